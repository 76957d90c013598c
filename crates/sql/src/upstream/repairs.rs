//! All repairs. Tests hold the heads of the files, `docs/sql.md`, `docs/upstream` and the tests
//! against bare DataFusion to this list.

/// One fault of DataFusion, and its repair.
pub(super) struct Repair {
    /// The test of this name in `tests/behaviour/upstream` fails when the fault has gone.
    pub(super) name: &'static str,
    /// The file, or a file of the folder, below `src/upstream`.
    pub(super) file: &'static str,
    pub(super) upstream: Upstream,
    pub(super) gone_in: GoneIn,
    /// What DataFusion does.
    pub(super) fault: &'static str,
    /// What Tonnage does.
    pub(super) repair: &'static str,
    /// Why there is no test, where there is none.
    pub(super) untested: Option<&'static str>,
}

/// Where the fault is reported.
pub(super) enum Upstream {
    /// Issues of apache/datafusion, or pull requests without an issue.
    Issues(&'static [u32]),
    /// No issue is known. A text of this name in `docs/upstream` is ready to be filed.
    Unfiled(&'static str),
}

/// The version without the fault.
pub(super) enum GoneIn {
    Version(u32),
    Open,
}

use GoneIn::{Open, Version};
use Upstream::{Issues, Unfiled};

/// A repair with a test.
const fn repair(
    name: &'static str,
    file: &'static str,
    upstream: Upstream,
    gone_in: GoneIn,
    fault: &'static str,
    repair: &'static str,
) -> Repair {
    Repair { name, file, upstream, gone_in, fault, repair, untested: None }
}

impl Repair {
    /// Without a test, for this reason.
    const fn untested(self, why: &'static str) -> Self {
        Self { untested: Some(why), ..self }
    }
}

/// In the order in which `docs/sql.md` shows them.
pub(super) const REPAIRS: &[Repair] = &[
    // Subqueries.
    repair(
        "membership",
        "membership.rs",
        Issues(&[8241, 25347, 25473]),
        Open,
        "`x IN (subquery)` below OR, NOT, IS or CASE takes NULL for false, and so does a correlated `NOT IN`",
        "it is rewritten to EXISTS and CASE before",
    ),
    repair(
        "hidden_nulls",
        "membership.rs",
        Issues(&[25474]),
        Open,
        "`nullif(k, 2) NOT IN (subquery)` keeps rows of NULL where `k` cannot be NULL",
        "they are left out",
    ),
    repair(
        "value_names",
        "value_names.rs",
        Unfiled("value-names"),
        Open,
        "`x IN (VALUES (1), (2))` fails, and so does `x = 5 OR x IN (SELECT y + 1 AS y FROM ..)`",
        "both work",
    ),
    repair(
        "empty_scalar_subqueries",
        "subqueries.rs",
        Issues(&[24513]),
        Version(56),
        "`(SELECT k FROM t WHERE k = 99) IS NULL` is false where `k` cannot be NULL",
        "it is true",
    ),
    repair(
        "aggregates_over_no_rows",
        "subqueries.rs",
        Issues(&[24960]),
        Open,
        "EXISTS, IN, ANY and ALL of a correlated aggregate over no rows find none: `0 IN (SELECT count(*) ...)`",
        "they find the one row that it gives",
    ),
    repair(
        "having_over_no_rows",
        "subqueries.rs",
        Issues(&[24960]),
        Open,
        "EXISTS of a correlated aggregate with HAVING finds no row where the aggregate is over no rows",
        "HAVING becomes a condition on the value of the row",
    ),
    repair(
        "comparisons_over_one_table",
        "subqueries.rs",
        Issues(&[25258]),
        Open,
        "`k > ANY (SELECT k FROM t ...)` in a query over `t` compares k with itself",
        "it compares both",
    ),
    repair(
        "correlation",
        "correlation.rs",
        Issues(&[25507]),
        Open,
        "a condition that ties a subquery to the outer row is taken over windows and outer joins",
        "such subqueries are refused",
    ),
    repair(
        "grouping_sets",
        "correlation.rs",
        Issues(&[25519]),
        Open,
        "a correlated subquery with ROLLUP, CUBE or GROUPING SETS loses the row of all groups",
        "such subqueries are refused",
    ),
    repair(
        "correlated_names",
        "correlated_names.rs",
        Unfiled("correlated-names"),
        Open,
        "a correlated subquery takes two columns of one name, `a.x = o.x AND b.x = o.y`, for one",
        "such columns get names of their own before",
    ),
    repair(
        "outer_types",
        "outer_types.rs",
        Unfiled("outer-types"),
        Open,
        "a subquery compares with an outer column in the type that it had before types were brought together",
        "it takes the type that the column comes to have",
    ),
    repair(
        "dependent_aggregates",
        "dependent_aggregates.rs",
        Issues(&[14554]),
        Open,
        "a correlated aggregate that is tied by another comparison than `=` is not implemented",
        "it works",
    ),
    repair(
        "only_rows",
        "only_rows.rs",
        Issues(&[16137]),
        Open,
        "a correlated subquery for one value must aggregate",
        "it may find one row; several are an error",
    ),
    repair(
        "computed_laterals",
        "computed_laterals.rs",
        Issues(&[21201]),
        Open,
        "LATERAL queries that compute with the outer row are not implemented",
        "they work",
    ),
    // Joins and sets.
    repair(
        "using",
        "using.rs",
        Issues(&[22881]),
        Open,
        "a column of USING or NATURAL is that of the left side; `*` has that of the side whose name comes first",
        "it is the one that a row has",
    ),
    repair(
        "null_joins",
        "null_joins.rs",
        Unfiled("null-joins"),
        Open,
        "IS NOT DISTINCT FROM between tables is forgotten beside a third one, and makes `=` take NULL for equal",
        "such joins are made when all rules are done",
    ),
    repair(
        "twin_columns",
        "twin_columns.rs",
        Issues(&[21246, 25244, 25262, 25263, 25264, 25296]),
        Version(56),
        "a filter on one of two columns of the same name goes to the other, above a join whose sides were swapped",
        "filters go down in the logical plan only; keys of joins are handed down only where no join or projection below has two columns of one name",
    ),
    repair(
        "guarded_joins",
        "guarded_joins.rs",
        Issues(&[19358]),
        Open,
        "a join without keys cannot be cancelled before its first row",
        "it ends with its statement",
    )
    .untested("the query would run for minutes"),
    repair(
        "projection_pushdown",
        "projection_pushdown.rs",
        Unfiled("projections-over-filters"),
        Open,
        "projections above a filter that has one of its own are an internal error",
        "the plan stays as it is",
    ),
    repair(
        "outer_constants",
        "outer_constants.rs",
        Unfiled("outer-constants"),
        Open,
        "a sort by a column that is constant below an outer join is left out above it",
        "what is constant on the side that NULL extends is forgotten there",
    ),
    repair(
        "join_orders",
        "join_orders.rs",
        Issues(&[25052]),
        Open,
        "rows of a join count as ordered by one side and then by the other, so that a sort by both is left out",
        "they count as ordered by one side alone",
    ),
    repair(
        "leaf_expressions",
        "removed_rules.rs",
        Issues(&[24241]),
        Version(56),
        "JSON paths that are read below an outer join become ambiguous",
        "the two rules that do so are left out",
    ),
    repair(
        "intersect_all",
        "sets.rs",
        Issues(&[12955]),
        Open,
        "INTERSECT ALL repeats a row as often as the left side has it",
        "it counts the rows of both sides",
    ),
    repair(
        "except_all",
        "sets.rs",
        Issues(&[12956]),
        Open,
        "EXCEPT ALL drops all copies of a row",
        "it drops as many as the right side has",
    ),
    // Names.
    repair(
        "ambiguous_names",
        "scopes/naming.rs",
        Unfiled("ambiguous-names"),
        Open,
        "a bare name that is ambiguous in a subquery is a column of the query around it",
        "it is the column of USING or NATURAL, or an error",
    ),
    repair(
        "columns_of_outer_tables",
        "scopes/naming.rs",
        Unfiled("ambiguous-names"),
        Open,
        "`x.k` is a field of a column x of the subquery, also where x is a table outside of it",
        "it is the column of the table",
    ),
    repair(
        "sorting_by_hidden_columns",
        "scopes/sorting.rs",
        Issues(&[13558]),
        Open,
        "`SELECT x::DATE FROM t ORDER BY x` fails: two columns are called x",
        "it goes by the date",
    ),
    repair(
        "twin_names_of_queries",
        "scopes/stars.rs",
        Issues(&[21232]),
        Open,
        "columns of one name in a query in FROM are `k` and `k:1`",
        "`k` and `k_1`",
    ),
    // Conditions and functions.
    repair(
        "merged_lists",
        "merged_lists.rs",
        Issues(&[24258]),
        Version(56),
        "`x NOT IN (1) OR x NOT IN (2)` is true for a NULL, `x IN (1) AND x IN (2)` false: two lists are merged",
        "lists are kept apart where merging loses NULL",
    ),
    repair(
        "swapped_bounds",
        "swapped_bounds.rs",
        Unfiled("swapped-bounds"),
        Open,
        "`a >= x AND x < a` is `a >= x` where x is not a plain literal",
        "constants stand on the right side before",
    ),
    repair(
        "between_of_random",
        "evaluated_twice.rs",
        Issues(&[25457]),
        Open,
        "`random() BETWEEN a AND b` draws two numbers",
        "it is refused",
    ),
    repair(
        "coalesce_of_random",
        "evaluated_twice.rs",
        Issues(&[25477]),
        Open,
        "`coalesce(nullif(random() ..), 0)` draws twice",
        "it is refused",
    ),
    repair(
        "patterns",
        "patterns.rs",
        Unfiled("regular-expressions-as-like"),
        Open,
        r"`s ~ 'a\\c'` is `s LIKE '%a\c%'`, where the backslash is the escape: it finds `ac`",
        r"it finds `a\c`",
    ),
    repair(
        "similar",
        "similar.rs",
        Issues(&[22263]),
        Version(56),
        "SIMILAR TO takes its pattern for a regular expression, which may match anywhere",
        "`%` and `_` stand for any characters, and the pattern for the whole text",
    ),
    repair(
        "wide_comparisons",
        "wide_comparisons.rs",
        Unfiled("wide-comparisons"),
        Open,
        "NUMBER(38, 0) is compared with `0.5` in 38 digits, and a number of 38 digits is an error",
        "it is compared in 76 digits",
    ),
    repair(
        "round_digits",
        "round_digits.rs",
        Unfiled("round-to-many-digits"),
        Open,
        "`round(x, 400)` is NaN",
        "it is x",
    ),
    repair(
        "array_positions",
        "array_positions.rs",
        Unfiled("array-position-of-null"),
        Open,
        "`array_position` finds no NULL among lists, maps and records",
        "it does",
    ),
    repair(
        "map_keys",
        "map_keys.rs",
        Unfiled("map-keys"),
        Open,
        "`m[k]` takes no nested keys, and fails for whole numbers of another size",
        "both work",
    ),
    // Aggregates and windows.
    repair(
        "extreme_double",
        "extreme_double.rs",
        Issues(&[13415, 24432]),
        Version(56),
        "grouped `min` and `max` of doubles are wrong for infinity",
        "they are right, with accumulators of our own",
    ),
    repair(
        "groups_cut_early",
        "settings.rs",
        Unfiled("top-groups-of-nan"),
        Open,
        "of groups cut by LIMIT NaN is less than any number, and each NaN is another",
        "such groups are not cut early",
    ),
    repair(
        "aggregate_filters",
        "settings.rs",
        Issues(&[24816]),
        Version(56),
        "bounds that `min` and `max` learn leave out rows that other aggregates want",
        "no such bounds are handed down",
    )
    .untested("the answer hangs on which of several files is read first"),
    repair(
        "aggregate_statistics",
        "removed_rules.rs",
        Unfiled("count-distinct-from-statistics"),
        Open,
        "`count(DISTINCT a), count(DISTINCT b)` of rows with `a = 1 AND b = 2` are 1 though there is no such row",
        "they are counted: no aggregate is answered by what is known beforehand",
    ),
    repair(
        "scan_statistics",
        "scan_statistics.rs",
        Issues(&[8099]),
        Open,
        "above a filter estimates of the least and greatest value count as exact",
        "scans do not give them",
    )
    .untested("it needs a table whose estimates are out of date"),
    repair(
        "average",
        "average.rs",
        Unfiled("average-of-long-decimals"),
        Open,
        "`avg` of decimals of more than 38 digits is an error where 10,000 times the sum has more than 76 digits",
        "it is an error where the sum has",
    ),
    repair(
        "percentile",
        "percentile.rs",
        Issues(&[25266]),
        Open,
        "`percentile_cont` rounds the position between two values to six digits: 1.899999 for 1.9",
        "it takes all digits",
    ),
    repair(
        "sort_keys",
        "sort_keys.rs",
        Issues(&[25398]),
        Open,
        "`array_agg(x ORDER BY y, y)` and `DISTINCT ON (y) ... ORDER BY y, y` fail",
        "a sort key that occurs twice counts once",
    )
    .untested("the query panics in a thread of DataFusion"),
    repair(
        "frame_accumulator",
        "frame_accumulator.rs",
        Unfiled("sums-over-moving-frames"),
        Open,
        "over moving frames `sum`, `avg` and `stddev` of doubles keep a rest of what has left, NaN for ever",
        "nothing is left of it",
    ),
    repair(
        "lag_lead",
        "lag_lead.rs",
        Issues(&[25471]),
        Open,
        "`lead(x, 2) IGNORE NULLS` gives a wrong row after several NULLs; `lag(x, -1)` sees no row behind a LIMIT",
        "they give the value that follows",
    ),
    repair(
        "named_windows",
        "windows.rs",
        Unfiled("named-windows"),
        Open,
        "`OVER (w ORDER BY x)` ignores what the named window `w` says",
        "it has the parts of both: windows are written out whole before planning",
    ),
    repair(
        "window_frames",
        "window_frames.rs",
        Issues(&[24327, 24514, 24915]),
        Version(56),
        "a window ordered by UUIDs, binary values, times of the day or intervals is an internal error",
        "it works",
    ),
];
