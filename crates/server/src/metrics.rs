//! Metrics, in the format of Prometheus.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;
use tonnage::Statistics;
use tonnage_resp::ClientExchange;
use tonnage_sql::ColumnCacheStatistics;

/// A listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelValue)]
#[allow(non_camel_case_types)]
pub(crate) enum ListenerKind {
    /// Arrow Flight.
    flight,
    /// HTTP.
    http,
    /// The protocol of Redis.
    redis,
    /// The protocol of the Oracle NoSQL Database SDKs.
    nosql,
}

const LISTENERS: [ListenerKind; 4] =
    [ListenerKind::flight, ListenerKind::http, ListenerKind::redis, ListenerKind::nosql];

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ListenerLabel {
    listener: ListenerKind,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CallLabels {
    listener: ListenerKind,
    call: &'static str,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CallLabel {
    listener: ListenerKind,
    call: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RowsLabels {
    listener: ListenerKind,
    direction: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabel {
    outcome: &'static str,
}

/// What is counted. Labels are never what a client sends.
pub(crate) struct Metrics {
    registry: Registry,
    connections: Family<ListenerLabel, Gauge>,
    connections_total: Family<ListenerLabel, Counter>,
    connections_refused: Family<ListenerLabel, Counter>,
    logins_failed: Family<ListenerLabel, Counter>,
    requests: Family<CallLabels, Counter>,
    request_seconds: Family<CallLabel, Histogram>,
    rows: Family<RowsLabels, Counter>,
    streams: Family<OutcomeLabel, Counter>,
    pub(crate) slow_readers: Counter,
    pub(crate) reloads_failed: Counter,
    redis_channels: Gauge,
    redis_waiting: Gauge,
    redis_messages: Counter,
    statements_running: Gauge,
    column_cache_bytes: Gauge,
    column_cache_scans: Counter,
    store: StoreGauges,
}

#[derive(Default)]
struct StoreGauges {
    rows_estimate: Gauge<f64, AtomicU64>,
    disk_bytes: Gauge<f64, AtomicU64>,
    compaction_pending_bytes: Gauge<f64, AtomicU64>,
}

/// From 50 microseconds to 100 seconds.
fn latency() -> Histogram {
    Histogram::new([
        5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 5e-2, 0.1, 0.5, 1., 5., 20.,
        100.,
    ])
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("tonnage"),
            connections: Family::default(),
            connections_total: Family::default(),
            connections_refused: Family::default(),
            logins_failed: Family::default(),
            requests: Family::default(),
            request_seconds: Family::new_with_constructor(latency),
            rows: Family::default(),
            streams: Family::default(),
            slow_readers: Counter::default(),
            reloads_failed: Counter::default(),
            redis_channels: Gauge::default(),
            redis_waiting: Gauge::default(),
            redis_messages: Counter::default(),
            statements_running: Gauge::default(),
            column_cache_bytes: Gauge::default(),
            column_cache_scans: Counter::default(),
            store: StoreGauges::default(),
        };
        metrics.register();
        metrics
    }

    fn register(&mut self) {
        // Names are what dashboards ask for: docs/server.md lists them. Counters get `_total` at
        // the end when they are written.
        let Self { registry, store, statements_running, .. } = self;
        // Clones share one value: the fields are counted up, and the registry reads them.
        registry.register("connections_open", "Open connections", self.connections.clone());
        registry.register("connections", "Connections made", self.connections_total.clone());
        let help = "Connections closed at once, because there were too many";
        registry.register("connections_refused", help, self.connections_refused.clone());
        let help = "Calls refused, because it was not clear who made them";
        registry.register("logins_failed", help, self.logins_failed.clone());
        let version = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "The program", version);
        registry.register("requests", "Calls ended", self.requests.clone());
        let help = "Seconds until a call was answered, or its stream began";
        registry.register("request_seconds", help, self.request_seconds.clone());
        registry.register("rows", "Rows and pairs moved", self.rows.clone());
        let help = "Streams of bulk puts ended, by how they ended";
        registry.register("bulk_streams", help, self.streams.clone());
        let help = "Readers cut off, because they took nothing";
        registry.register("slow_readers", help, self.slow_readers.clone());
        let help = "Files of users or certificates that changed and could not be read";
        registry.register("reloads_failed", help, self.reloads_failed.clone());
        let help = "Channels and patterns that Redis clients subscribe to";
        registry.register("redis_channels", help, self.redis_channels.clone());
        let help = "Redis clients that wait for an element";
        registry.register("redis_waiting", help, self.redis_waiting.clone());
        let help = "Messages sent to Redis clients that subscribe";
        registry.register("redis_messages", help, self.redis_messages.clone());
        let help = "SQL statements that run, or whose rows are being fetched";
        registry.register("statements_running", help, statements_running.clone());
        let help = "Memory of columns that are kept of tables that were scanned";
        registry.register("column_cache_bytes", help, self.column_cache_bytes.clone());
        let help = "Scans of tables answered from columns that are kept";
        registry.register("column_cache_scans", help, self.column_cache_scans.clone());
        let help = "Rows in the store, estimated";
        registry.register("store_rows_estimate", help, store.rows_estimate.clone());
        registry.register("store_disk_bytes", "Bytes of data files", store.disk_bytes.clone());
        let help = "Bytes that wait for compaction";
        registry.register(
            "store_compaction_pending_bytes",
            help,
            store.compaction_pending_bytes.clone(),
        );
    }

    /// Notes a connection; dropping what comes back notes its end.
    pub(crate) fn count_connection(&self, listener: ListenerKind) -> ConnectionGauge {
        self.connections_total.get_or_create(&ListenerLabel { listener }).inc();
        let open = self.connections.get_or_create_owned(&ListenerLabel { listener });
        open.inc();
        ConnectionGauge(open)
    }

    pub(crate) fn count_refused(&self, listener: ListenerKind) {
        self.connections_refused.get_or_create(&ListenerLabel { listener }).inc();
    }

    pub(crate) fn count_failed_login(&self, listener: ListenerKind) {
        self.logins_failed.get_or_create(&ListenerLabel { listener }).inc();
    }

    pub(crate) fn count_call(
        &self,
        listener: ListenerKind,
        call: &'static str,
        outcome: &'static str,
        took: Duration,
    ) {
        self.requests.get_or_create(&CallLabels { listener, call, outcome }).inc();
        self.request_seconds
            .get_or_create(&CallLabel { listener, call })
            .observe(took.as_secs_f64());
    }

    /// Notes how often a command was called through the Redis listener.
    pub(crate) fn set_redis_calls(&self, call: &'static str, calls: u64) {
        let labels = CallLabels { listener: ListenerKind::redis, call, outcome: "called" };
        self.requests.get_or_create(&labels).inner().store(calls, Ordering::Relaxed);
    }

    /// Notes what there is between clients of the Redis listener.
    pub(crate) fn set_redis_exchange(&self, exchange: ClientExchange) {
        let gauge = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        self.redis_channels.set(gauge(exchange.channels + exchange.patterns));
        self.redis_waiting.set(gauge(exchange.waiting));
        self.redis_messages.inner().store(exchange.messages, Ordering::Relaxed);
    }

    pub(crate) fn rows_in(&self, listener: ListenerKind, rows: u64) {
        self.rows.get_or_create(&RowsLabels { listener, direction: "in" }).inc_by(rows);
    }

    pub(crate) fn rows_out(&self, listener: ListenerKind, rows: u64) {
        self.rows.get_or_create(&RowsLabels { listener, direction: "out" }).inc_by(rows);
    }

    /// Open connections of all listeners.
    pub(crate) fn connections_open(&self) -> i64 {
        LISTENERS
            .iter()
            .map(|listener| {
                self.connections.get_or_create(&ListenerLabel { listener: *listener }).get()
            })
            .sum()
    }

    /// Rows moved in a direction, `in` or `out`, through all listeners.
    pub(crate) fn rows_moved(&self, direction: &'static str) -> u64 {
        let of = |listener| self.rows.get_or_create(&RowsLabels { listener, direction }).get();
        LISTENERS.into_iter().map(of).sum()
    }

    pub(crate) fn count_stream(&self, outcome: &'static str) {
        self.streams.get_or_create(&OutcomeLabel { outcome }).inc();
    }

    /// All of it, as text.
    pub(crate) fn text(
        &self,
        statistics: Option<&Statistics>,
        statements: usize,
        columns: ColumnCacheStatistics,
    ) -> String {
        self.statements_running.set(i64::try_from(statements).unwrap_or(i64::MAX));
        self.column_cache_bytes.set(i64::try_from(columns.bytes).unwrap_or(i64::MAX));
        self.column_cache_scans.inner().store(columns.scans, Ordering::Relaxed);
        if let Some(statistics) = statistics {
            self.store.rows_estimate.set(statistics.rows_estimate() as f64);
            self.store.disk_bytes.set(statistics.disk_bytes() as f64);
            let pending = statistics.compaction_pending_bytes() as f64;
            self.store.compaction_pending_bytes.set(pending);
        }
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

/// An open connection.
pub(crate) struct ConnectionGauge(Gauge);

impl Drop for ConnectionGauge {
    fn drop(&mut self) {
        self.0.dec();
    }
}
