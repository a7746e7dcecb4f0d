"""Fill in templates; data is always shown as text, even if it looks like HTML."""

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup as Markup

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "img-src data:; form-action 'self'; base-uri 'none'"
)
"""What a browser may load and run for a page: only what is in the page itself."""


def render(template: str, **values: Any) -> Markup:
    """The template with these values; only `Markup` among them is inserted as HTML.

    >>> print(render("frame.html", title="<b>").splitlines()[6])
    <title>&lt;b&gt;</title>
    """
    return Markup(environment().get_template(template).render(**values))


@cache
def environment() -> Environment:
    """The templates of this package; a missing value is an error, not a gap on the page."""
    made = Environment(
        loader=PackageLoader("beamlearn.reports.pages", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.globals["policy"] = Markup(POLICY)
    made.filters |= {"number": number, "visible": visible}
    return made


def number(value: float | None) -> str:
    """A number in a readable form.

    >>> number(-3.14159), number(2.0), number(-0.0), number(0.00412), number(None)
    ('\N{MINUS SIGN}3.14', '2', '0', '0.0041', '')
    """
    if value is None:
        return ""
    if float(value).is_integer():
        text = f"{value + 0.0:.0f}"
    else:
        text = f"{value:.2f}" if abs(value) >= 0.01 else f"{value:.2g}"
    return text.replace("-", "\N{MINUS SIGN}")


def visible(text: str) -> str:
    """A text as it is; in quotes if there would be nothing to see.

    >>> visible("a b"), visible(" ")
    ('a b', "' '")
    """
    return text if text.strip() else repr(text)
