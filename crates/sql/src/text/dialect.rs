//! The dialect of SQL that statements are read in.

use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;

/// The one whose operators on JSON bind as tightly as they should.
pub(super) static DIALECT: PostgreSqlDialect = PostgreSqlDialect {};
