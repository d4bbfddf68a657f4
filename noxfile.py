"""``nox``: the tests of ``make test`` with every version of Python that is installed here."""

import nox

nox.options.default_venv_backend = "venv"
nox.options.error_on_missing_interpreters = False


@nox.session(python=["3.11", "3.12", "3.13", "3.14"])
def tests(session: nox.Session) -> None:
    """Run the tests; arguments behind ``--`` go to pytest."""
    session.install("--upgrade", "pip==26.3")
    session.install("--editable", ".", *nox.project.dependency_groups(nox.project.load_toml(), "test"))
    session.run("pytest", "-n", "auto", *session.posargs)
