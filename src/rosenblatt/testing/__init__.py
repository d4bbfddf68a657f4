"""Checks that every classifier of this package passes; they can be run on subclasses too.

``check_estimator(estimator)`` runs all of them; ``checks(estimator)`` gives them one by one, for pytest::

    @pytest.mark.parametrize(("name", "check"), rosenblatt.testing.checks(MyPerceptron()))
    def test_my_perceptron(name, check):
        check()
"""

from __future__ import annotations

from rosenblatt.testing.suite import CheckFailed, Outcome, check_estimator, checks

__all__ = ["CheckFailed", "Outcome", "check_estimator", "checks"]
