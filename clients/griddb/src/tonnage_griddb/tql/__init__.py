"""TQL, the query language of GridDB, as SQL of Tonnage."""
