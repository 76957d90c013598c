//! Sets DataFusion up over a store.

use std::sync::Arc;
use std::time::Duration;

use datafusion::common::DataFusionError;
use datafusion::execution::FunctionRegistry;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::prelude::SessionConfig;
use tokio::runtime::{Builder, Handle, Runtime};
use tonnage::{Error, Result};

use crate::aggregate::{frequencies, guarded, series};
use crate::asof::AsOfQueryPlanner;
use crate::catalog::{CatalogContext, StoreCatalog};
use crate::documents::{self, json_set};
use crate::errors::from_datafusion;
use crate::functions;
use crate::plan::{MemberPlanner, OperatorPlanner, OwnRelationPlanner, TextPlanner};
use crate::session::SqlOptions;
use crate::text::{CATALOG, SCHEMA};
use crate::upstream::{SessionRules, shifts, turn_off_faults};

/// How long the last handle waits for statements that were left before their end.
const ENDING_MAX: Duration = Duration::from_secs(1);

/// The keys of a join that are listed for the read on its other side: these many at most, and each
/// for so many bytes of the memory of a session.
const LISTED_VALUES_MAX: usize = 1 << 18;
const LISTED_VALUE_BYTES: usize = 1 << 10;

/// The stack of each thread: plans are trees, and run level by level. Only what is used takes
/// memory.
const STACK_BYTES: usize = 8 << 20;

/// What plans run on.
pub(crate) struct Engine {
    pub(crate) state: SessionState,
    runtime: Option<Runtime>,
}

impl Engine {
    pub(crate) fn new(context: &CatalogContext) -> Result<Self> {
        let state = state(context).map_err(from_datafusion)?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(context.options.workers())
            .thread_name("tonnage-sql")
            .thread_stack_size(STACK_BYTES)
            .enable_time()
            .build()
            .map_err(|error| {
                Error::unavailable(format!("no threads for statements: {error}")).with_source(error)
            })?;
        Ok(Self { state, runtime: Some(runtime) })
    }

    pub(crate) fn handle(&self) -> &Handle {
        self.runtime.as_ref().expect("the runtime goes with the engine").handle()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        // A task of another runtime must not wait.
        if Handle::try_current().is_ok() {
            runtime.shutdown_background();
        } else {
            runtime.shutdown_timeout(ENDING_MAX);
        }
    }
}

fn state(context: &CatalogContext) -> std::result::Result<SessionState, DataFusionError> {
    let options = &context.options;
    let runtime = RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::new(FairSpillPool::new(options.memory_bytes_max)))
        .with_disk_manager_builder(disk(options))
        .build_arc()?;
    // An error here says that DataFusion has other rules than those that the repairs count on.
    let rules = SessionRules::new(options.push_down)?;
    let mut builder = SessionStateBuilder::new()
        .with_config(config(options))
        .with_runtime_env(runtime)
        .with_catalog_list(Arc::new(StoreCatalog::new(context.clone())))
        .with_default_features()
        .with_analyzer_rules(rules.analyzer)
        .with_optimizer_rules(rules.optimizer)
        .with_physical_optimizer_rules(rules.physical)
        .with_query_planner(Arc::new(AsOfQueryPlanner));
    // Before those of the library, which take every name after a column for a field of a struct.
    if let Some(planners) = builder.expr_planners() {
        planners.insert(0, Arc::new(OperatorPlanner));
        planners.insert(1, Arc::new(MemberPlanner));
    }
    let mut state = builder.build();
    state.register_relation_planner(Arc::new(OwnRelationPlanner))?;
    datafusion_functions_json::register_all(&mut state)?;
    state.register_udf(Arc::new(json_set()))?;
    state.register_expr_planner(Arc::new(TextPlanner))?;
    let scalars = functions::scalars(options.memory_bytes_max);
    for function in scalars.into_iter().chain(documents::scalars()) {
        state.register_udf(Arc::new(function))?;
    }
    functions::register_series(&mut state);
    for function in shifts() {
        state.register_udwf(function)?;
    }
    for function in guarded().into_iter().chain(series()).chain(frequencies()) {
        state.register_udaf(Arc::new(function))?;
    }
    Ok(state)
}

fn disk(options: &SqlOptions) -> DiskManagerBuilder {
    let mode = match &options.spill_directory {
        Some(directory) => DiskManagerMode::Directories(vec![directory.clone()]),
        None => DiskManagerMode::OsTmpDirectory,
    };
    DiskManagerBuilder::default()
        .with_mode(mode)
        .with_max_temp_directory_size(options.spill_bytes_max)
}

fn config(options: &SqlOptions) -> SessionConfig {
    let mut config = SessionConfig::new()
        .with_default_catalog_and_schema(CATALOG, SCHEMA)
        .with_create_default_catalog_and_schema(false)
        .with_information_schema(false)
        .with_target_partitions(options.workers())
        // Spreading the batches of a read over threads would hide it from the limits above, which
        // then could not reach it.
        .with_round_robin_repartition(false)
        .with_batch_size(options.batch_rows_max);
    let settings = config.options_mut();
    settings.sql_parser.collect_spans = true;
    // A number with a point is exact. What meets doubles becomes one again (`plan/numbers.rs`).
    settings.sql_parser.parse_float_as_decimal = true;
    // The store's texts are plain Utf8: literals of the same type need no conversion.
    settings.sql_parser.map_string_types_to_utf8view = false;
    // The keys of a join are worth listing as long as reading by key pays. Lists are outside of the
    // pool: together they stay small beside it.
    settings.optimizer.hash_join_inlist_pushdown_max_size =
        (options.memory_bytes_max / 16).min(64 << 20) / options.workers();
    // Each part of a join lists its own, and holds a value several times while it is handed on.
    settings.optimizer.hash_join_inlist_pushdown_max_distinct_values =
        (options.memory_bytes_max / LISTED_VALUE_BYTES).min(LISTED_VALUES_MAX) / options.workers();
    // What each sort keeps for its merge: many of them must fit.
    settings.execution.sort_spill_reservation_bytes =
        (options.memory_bytes_max / 32).min(settings.execution.sort_spill_reservation_bytes);
    // A read in the order of the key is ahead of its plan as it is.
    settings.execution.sort_pushdown_buffer_capacity = 4 << 20;
    turn_off_faults(settings);
    // It refuses plans that know of fewer columns that they are never NULL than the statement does.
    settings.execution.skip_physical_aggregate_schema_check = true;
    // The order is chosen before, by better estimates (`plan/join_order`).
    settings.optimizer.join_reordering = false;
    settings.optimizer.enable_join_dynamic_filter_pushdown = options.push_down;
    settings.optimizer.enable_topk_dynamic_filter_pushdown = options.push_down;
    config
}
