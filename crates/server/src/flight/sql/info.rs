//! The server's answer to GetSqlInfo.
//!
//! It has every number that the JDBC driver reads: drivers before 19 fail on a missing one.

use std::collections::HashMap;

use arrow_flight::sql::SqlInfo as Info;
use arrow_flight::sql::SqlSupportsConvert as Convert;
use arrow_flight::sql::metadata::{SqlInfoData, SqlInfoDataBuilder};
use tonnage::{Error, Result};

/// All numbers, with the answer for each.
///
/// # Errors
/// `Internal` when Arrow cannot hold them.
pub(super) fn sql_info() -> Result<SqlInfoData> {
    let mut infos = SqlInfoDataBuilder::new();
    texts(&mut infos);
    booleans(&mut infos);
    bits(&mut infos);
    limits(&mut infos);
    infos.append(Info::SqlSupportsConvert, conversions());
    infos.build().map_err(|error| Error::internal(format!("what the server can do: {error}")))
}

fn texts(infos: &mut SqlInfoDataBuilder) {
    for (info, text) in [
        (Info::FlightSqlServerName, "Tonnage"),
        (Info::FlightSqlServerVersion, env!("CARGO_PKG_VERSION")),
        (Info::FlightSqlServerArrowVersion, "1.5"),
        (Info::SqlIdentifierQuoteChar, "\""),
        (Info::SqlSearchStringEscape, "\\"),
        (Info::SqlExtraNameCharacters, ""),
        (Info::SqlSchemaTerm, "schema"),
        (Info::SqlProcedureTerm, "procedure"),
        (Info::SqlCatalogTerm, "catalog"),
    ] {
        infos.append(info, text);
    }
    for (info, names) in [
        (Info::SqlKeywords, KEYWORDS),
        (Info::SqlNumericFunctions, NUMERIC),
        (Info::SqlStringFunctions, STRING),
        (Info::SqlSystemFunctions, SYSTEM),
        (Info::SqlDatetimeFunctions, DATETIME),
    ] {
        infos.append(info, names);
    }
}

/// Words of the language beyond SQL's own.
const KEYWORDS: &[&str] =
    &["DESCRIBE", "EXPLAIN", "ILIKE", "LIMIT", "OFFSET", "SHARD", "SHOW", "TTL", "UPSERT"];
const NUMERIC: &[&str] = &[
    "abs", "acos", "asin", "atan", "atan2", "ceil", "cos", "cot", "degrees", "exp", "floor", "ln",
    "log", "log10", "mod", "pi", "power", "radians", "random", "round", "sign", "sin", "sqrt",
    "tan", "trunc",
];
const STRING: &[&str] = &[
    "ascii",
    "btrim",
    "char_length",
    "chr",
    "concat",
    "left",
    "lower",
    "lpad",
    "ltrim",
    "replace",
    "repeat",
    "reverse",
    "right",
    "rpad",
    "rtrim",
    "split_part",
    "strpos",
    "substr",
    "upper",
];
const SYSTEM: &[&str] = &["coalesce", "greatest", "least", "nullif", "uuid"];
const DATETIME: &[&str] =
    &["current_date", "current_time", "date_bin", "date_part", "date_trunc", "now", "to_timestamp"];

fn booleans(infos: &mut SqlInfoDataBuilder) {
    // Drivers believe these, so an answer changes with what SQL learns. A test asks for all.
    for (info, is_so) in [
        (Info::FlightSqlServerReadOnly, false),
        (Info::FlightSqlServerSql, true),
        (Info::FlightSqlServerSubstrait, false),
        // Covers the actions CancelQuery and CancelFlightInfo in `action.rs`.
        (Info::FlightSqlServerCancel, true),
        (Info::FlightSqlServerBulkIngestion, true),
        (Info::FlightSqlServerIngestTransactionsSupported, false),
        (Info::SqlDdlCatalog, false),
        (Info::SqlDdlSchema, false),
        (Info::SqlDdlTable, true),
        (Info::SqlAllTablesAreSelectable, true),
        (Info::SqlSupportsColumnAliasing, true),
        (Info::SqlNullPlusNullIsNull, true),
        (Info::SqlSupportsTableCorrelationNames, true),
        (Info::SqlSupportsDifferentTableCorrelationNames, false),
        (Info::SqlSupportsExpressionsInOrderBy, true),
        (Info::SqlSupportsOrderByUnrelated, true),
        (Info::SqlSupportsLikeEscapeClause, true),
        (Info::SqlSupportsNonNullableColumns, true),
        (Info::SqlSupportsIntegrityEnhancementFacility, false),
        (Info::SqlCatalogAtStart, true),
        (Info::SqlSelectForUpdateSupported, false),
        (Info::SqlStoredProceduresSupported, false),
        (Info::SqlCorrelatedSubqueriesSupported, true),
        (Info::SqlMaxRowSizeIncludesBlobs, true),
        (Info::SqlTransactionsSupported, false),
        (Info::SqlDataDefinitionCausesTransactionCommit, false),
        (Info::SqlDataDefinitionsInTransactionsIgnored, false),
        (Info::SqlBatchUpdatesSupported, true),
        (Info::SqlSavepointsSupported, false),
        (Info::SqlNamedParametersSupported, false),
        (Info::SqlLocatorsUpdateCopy, false),
        (Info::SqlStoredFunctionsUsingCallSyntaxSupported, false),
    ] {
        infos.append(info, is_so);
    }
}

/// Numbers of 32 bits: times, choices, and sets of bits.
fn bits(infos: &mut SqlInfoDataBuilder) {
    for (info, bits) in [
        (Info::FlightSqlServerTransaction, 0),
        (Info::FlightSqlServerStatementTimeout, 0),
        (Info::FlightSqlServerTransactionTimeout, 0),
        // Group by what is not selected, and by more than that.
        (Info::SqlSupportedGroupBy, 0b11),
        // The grammars of ODBC: minimum and core.
        (Info::SqlSupportedGrammar, 0b11),
        (Info::SqlAnsi92SupportedLevel, 0b1),
        (Info::SqlSchemasSupportedActions, 0),
        (Info::SqlCatalogsSupportedActions, 0),
        (Info::SqlSupportedPositionedCommands, 0),
        (Info::SqlSupportedSubqueries, 0b1111),
        (Info::SqlSupportedUnions, 0b11),
        // Full outer joins; drivers read it as bits, too.
        (Info::SqlOuterJoinsSupportLevel, 0b110),
        (Info::SqlSupportedTransactionsIsolationLevels, 0b1),
        // Forward only, and read only.
        (Info::SqlSupportedResultSetTypes, 0b10),
        (Info::SqlSupportedConcurrenciesForResultSetUnspecified, 0),
        (Info::SqlSupportedConcurrenciesForResultSetForwardOnly, 0b10),
        (Info::SqlSupportedConcurrenciesForResultSetScrollSensitive, 0),
        (Info::SqlSupportedConcurrenciesForResultSetScrollInsensitive, 0),
    ] {
        infos.append(info, bits);
    }
}

/// Numbers of 64 bits: choices, and limits, of which 0 is none that is known.
fn limits(infos: &mut SqlInfoDataBuilder) {
    // Both are the store's own numbers: copies would become stale when it changes them.
    const NAME_BYTES_MAX: i64 = tonnage::internal::NAME_BYTES_MAX as i64;
    const COLUMNS_MAX: i64 = tonnage::internal::COLUMNS_MAX as i64;
    for (info, limit) in [
        // Names are found without regard to case; NULL is the greatest.
        (Info::SqlIdentifierCase, 1),
        (Info::SqlQuotedIdentifierCase, 1),
        (Info::SqlNullOrdering, 0),
        (Info::SqlDefaultTransactionIsolation, 0),
        (Info::SqlMaxBinaryLiteralLength, 0),
        (Info::SqlMaxCharLiteralLength, 0),
        (Info::SqlMaxColumnNameLength, NAME_BYTES_MAX),
        (Info::SqlMaxColumnsInGroupBy, 0),
        (Info::SqlMaxColumnsInIndex, 0),
        (Info::SqlMaxColumnsInOrderBy, 0),
        (Info::SqlMaxColumnsInSelect, 0),
        (Info::SqlMaxColumnsInTable, COLUMNS_MAX),
        (Info::SqlMaxConnections, 0),
        (Info::SqlMaxCursorNameLength, 0),
        (Info::SqlMaxIndexLength, 0),
        (Info::SqlDbSchemaNameLength, 0),
        (Info::SqlMaxProcedureNameLength, 0),
        (Info::SqlMaxCatalogNameLength, 0),
        (Info::SqlMaxRowSize, 0),
        (Info::SqlMaxStatementLength, 0),
        (Info::SqlMaxStatements, 0),
        (Info::SqlMaxTableNameLength, 0),
        (Info::SqlMaxTablesInSelect, 0),
        (Info::SqlMaxUsernameLength, 0),
    ] {
        infos.append(info, limit);
    }
}

/// What CAST makes of what.
fn conversions() -> HashMap<i32, Vec<i32>> {
    let numbers = [
        Convert::SqlConvertBigint,
        Convert::SqlConvertInteger,
        Convert::SqlConvertReal,
        Convert::SqlConvertFloat,
        Convert::SqlConvertDecimal,
        Convert::SqlConvertVarchar,
    ]
    .map(|kind| kind as i32);
    let moments =
        [Convert::SqlConvertTimestamp, Convert::SqlConvertDate, Convert::SqlConvertVarchar]
            .map(|kind| kind as i32);
    let numeric = numbers[..5].iter().map(|from| (*from, numbers.to_vec()));
    let timed = moments[..2].iter().map(|from| (*from, moments.to_vec()));
    let text: Vec<i32> = numbers.iter().chain(&moments[..2]).copied().collect();
    numeric.chain(timed).chain([(Convert::SqlConvertVarchar as i32, text)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `ArrowDatabaseMetadata` of the JDBC driver 18.3.0 asks for numbers in these ranges.
    #[test]
    fn every_number_of_the_protocol_is_told() {
        let known = (0..=11).chain([100, 101]).chain(500..=576);
        let without_substrait = known.filter(|info| ![6, 7].contains(info));
        let infos = sql_info().unwrap();
        for info in without_substrait {
            assert_eq!(infos.record_batch([info]).unwrap().num_rows(), 1, "{info}");
        }
    }
}
