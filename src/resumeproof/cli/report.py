"""`report`: a receipt file as a page to look at."""

from __future__ import annotations

from pathlib import Path

import click

from resumeproof.cli.options import takes_format
from resumeproof.cli.output import Output


@click.command(short_help="Draw a receipt file as one HTML page.")
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--output",
    "destination",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Where to write it; report.html beside the receipt file if not given.",
)
@takes_format
@click.pass_obj
def report(output: Output, path: Path, destination: Path | None) -> None:
    """Draw a receipt file, or that of a directory, as one HTML page without a network.

    The page is made from the receipt file alone, which `verify` checks. A report that is there
    already is written anew; any other file is left as it is, and refused.

    \b
    Examples:
      resumeproof report resumeproof-demo
      resumeproof report receipt.json --output crash.html
    """
    from resumeproof.evidence.reading import read_receipt
    from resumeproof.evidence.receipt import RECEIPT_NAME
    from resumeproof.evidence.report import REPORT_NAME, write_report
    from resumeproof.stores.place import is_directory

    source = path / RECEIPT_NAME if is_directory(path) else path
    receipt = read_receipt(source)
    page = source.with_name(REPORT_NAME) if destination is None else destination
    _must_be_free(page)
    write_report(page, receipt, str(source))
    output.document({"receipt": str(source), "kind": receipt["kind"], "report": str(page)})
    output.lines([f"{page} shows {source}"])


def _must_be_free(page: Path) -> None:
    """Raises `UsageRefused` for what is no report: a receipt file or a database, for instance."""
    from resumeproof.errors import UsageRefused
    from resumeproof.evidence.files import open_regular
    from resumeproof.evidence.report.markup import DOCTYPE

    try:
        with open_regular(page) as file:
            begins = file.read(len(DOCTYPE))
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise UsageRefused(f"report {str(page)!r}: {error}") from error
    if begins != DOCTYPE.encode():
        raise UsageRefused(f"report {page}: there is another file, which is not overwritten")
