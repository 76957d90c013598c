"""GridDB's Python client by its own name; the package behind it is `tonnage_griddb`."""

from tonnage_griddb import *  # noqa: F403 - every name of the client, and no other
from tonnage_griddb import __all__ as __all__
