"""GridDB's Python client by its own name; the package behind it is `tonnage_griddb`."""

import tonnage_griddb
from tonnage_griddb import *  # noqa: F403 - every name of the client, and no other
from tonnage_griddb.old_names import *  # noqa: F403

__all__ = []
__all__ += tonnage_griddb.__all__
