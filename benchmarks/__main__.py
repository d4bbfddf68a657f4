"""``python -m benchmarks [NAME ...] [--repeats N] [--quick] [--data DIR] [--json FILE] [--record]``."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from sklearn.exceptions import ConvergenceWarning

from benchmarks import (
    cores,
    defaults,
    distributed,
    echo,
    family,
    fits,
    kernels,
    lab,
    margins,
    networks,
    online,
    out_of_core,
    prediction,
    probes,
    proofs,
    report,
    results,
    sequences,
    server,
    single,
    spam,
    startup,
    tables,
    texts,
    wide,
)
from benchmarks.comparison import Comparison
from benchmarks.timing import Setup

WORKLOADS = {
    "D1": fits.dense_separable,
    "D2": fits.dense_noisy,
    "D3": fits.dense_wide,
    "S1": fits.sparse_text,
    "M1": fits.dense_classes,
    "M2": fits.sparse_classes,
    "online": online.words,
    "K1": kernels.rbf,
    "SMS": spam.sms,
    "defaults": defaults.defaults,
    "svmlight": texts.svmlight,
    "words": texts.words,
    "csv": tables.delimited,
    "cached-pass": tables.cached_passes,
    "soft": margins.soft,
    "soft-classes": margins.soft_classes,
    "soft-raw": margins.soft_raw,
    "hard": margins.hard,
    "proofs": proofs.proofs,
    "checks": proofs.checks,
    "real-proofs": proofs.real_proofs,
    "verdicts": proofs.verdicts,
    "echo": echo.cancel,
    "sequences": sequences.sequences,
    "lab-frames": lab.frames,
    "lab-start": lab.start,
    "server": server.server,
    "networks": networks.networks,
    "raw-bytes": networks.raw_bytes,
    "family": family.family,
    "out-of-core": out_of_core.parquet,
    "R52": wide.r52,
    "row-groups": wide.row_groups,
    "distributed": distributed.distributed,
    "predict": prediction.batch,
    "cores": cores.two_threads,
    "probes": probes.probes,
    "one": single.one_row,
    "dicts": single.one_mapping,
    "import": startup.imports,
    "command": startup.command,
}


def main() -> None:
    parser = _parser()
    arguments = parser.parse_args()
    if arguments.record and arguments.quick:
        parser.error("--record keeps results that people quote; it does not go with --quick")
    if unknown := set(arguments.names) - set(WORKLOADS):
        parser.error(f"no workload is called {', '.join(sorted(unknown))}; there are {', '.join(WORKLOADS)}")
    warnings.simplefilter("ignore", ConvergenceWarning)  # a fixed number of passes is meant
    setup = Setup(arguments.repeats, arguments.quick, arguments.data)
    found = {name: list(_run(name, setup)) for name in arguments.names or WORKLOADS}
    comparisons = [each for group in found.values() for each in group]
    write = report.print_markdown if arguments.markdown else report.print_table
    write(comparisons, quick=arguments.quick)
    if arguments.json:
        arguments.json.write_text(report.as_json(comparisons))
    if arguments.record:
        for name, group in found.items():
            results.record(name, group)


def _run(name: str, setup: Setup) -> Iterator[Comparison]:
    for comparison in WORKLOADS[name](setup):
        if setup.quick:  # targets are for the sizes they were set at
            comparison = replace(comparison, target=None)
        print(report.one_line(comparison), file=sys.stderr, flush=True)
        yield comparison


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Compare speed with peers.")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"of {', '.join(WORKLOADS)}; all if none is given"
    )
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="turns each contestant gets")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows: to try the suite, not to quote")
    parser.add_argument("--data", type=Path, metavar="DIR", help="a folder that holds real data, see README.md")
    parser.add_argument("--markdown", action="store_true", help="print the table of README.md")
    parser.add_argument("--record", action="store_true", help="keep the results for the documentation")
    parser.add_argument("--json", type=Path, metavar="FILE", help="save every measurement")
    return parser


if __name__ == "__main__":
    main()
