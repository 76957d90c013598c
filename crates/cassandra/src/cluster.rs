//! The connection to the cluster. It prepares and sends statements, and tries again.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use scylla::client::PoolSize;
use scylla::client::execution_profile::{ExecutionProfile, ExecutionProfileHandle};
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::cluster::Node;
use scylla::deserialize::row::DeserializeRow;
use scylla::errors::ExecutionError;
use scylla::policies::load_balancing::{DefaultPolicy, LoadBalancingPolicy};
use scylla::policies::retry::FallthroughRetryPolicy;
use scylla::policies::speculative_execution::SimpleSpeculativeExecutionPolicy;
use scylla::response::query_result::QueryRowsResult;
use scylla::routing::Token;
use scylla::serialize::row::SerializeRow;
use scylla::statement::batch::{Batch, BatchType};
use scylla::statement::prepared::PreparedStatement;
use scylla::statement::{Consistency, SerialConsistency, Statement};
use scylla::value::{CqlValue, Row};
use tokio::sync::Semaphore;
use tonnage_engine::{Deadline, Error, Result};

use crate::address::Address;
use crate::error::{
    RequestFailure, RequestInfo, failure, is_too_much, not_prepared, not_understood,
};
use crate::first_node::FirstNode;
use crate::login::Login;
use crate::quorum_scope::{self, QuorumScope};
use crate::stamp::Stamp;

/// Requests under way at a time, of all callers.
const IN_FLIGHT_MAX: usize = 256;

/// The KiB of rows of loads under way at a time, of all callers. A larger chunk is sent alone.
const IN_FLIGHT_KIB: usize = 64 << 10;

/// How long a request may take. Nodes give up by themselves after some seconds.
const REQUEST_TIME: Duration = Duration::from_secs(15);

/// When another node is asked too, for what changes nothing when it comes twice: a paused node must
/// not delay all calls.
const ANOTHER_NODE_AFTER: Duration = Duration::from_millis(500);

/// How long a decision on conditions may take. Only one node is asked, since it must come once.
const DECISION_TIME: Duration = Duration::from_secs(6);

/// How long a node may be silent before its connections are given up.
const KEEPALIVE: Duration = Duration::from_secs(5);

/// How long a request is tried again and again.
const RETRY_TIME_MAX: Duration = Duration::from_secs(30);

/// How long a change of the schema may take.
const SCHEMA_TIME: Duration = Duration::from_secs(60);

/// How often a request that changes nothing when it comes twice is tried.
const ATTEMPTS: u32 = 8;

/// How often one is that nodes give up: mostly they do so each time.
const READ_FAILURES: u32 = 4;

/// What a call waits for whose deadline passes.
pub(crate) const AN_ANSWER: &str = "an answer of the cluster";

/// Whether rows may still be sent.
type SendCheck<'a> = &'a (dyn Fn() -> Result<()> + Sync);

/// A connection to a keyspace.
pub(crate) struct Cluster {
    session: Session,
    profile: ExecutionProfileHandle,
    /// Which nodes are asked.
    nodes: Arc<dyn LoadBalancingPolicy>,
    /// Where they are preferred.
    data_center: Option<String>,
    quorum_scope: QuorumScope,
    keyspace: String,
    in_flight: Semaphore,
    kib_in_flight: Semaphore,
}

impl Cluster {
    /// Connects to the nodes of an address.
    ///
    /// # Errors
    /// `Unavailable` when none of them answers; `Invalid` for files of TLS or a password that cannot
    /// be read.
    pub(crate) async fn connect(address: &Address) -> Result<Self> {
        let nodes = DefaultPolicy::builder().build();
        let profile = ExecutionProfile::builder()
            .load_balancing_policy(nodes.clone())
            .consistency(Consistency::Quorum)
            .serial_consistency(Some(SerialConsistency::Serial))
            .request_timeout(Some(REQUEST_TIME))
            // The driver heeds it only for statements that are marked as idempotent, see `prepare`.
            .speculative_execution_policy(Some(Arc::new(SimpleSpeculativeExecutionPolicy {
                max_retry_count: 2,
                retry_interval: ANOTHER_NODE_AFTER,
            })))
            .build()
            // A handle, so that `use_home` can give it another profile while the session stays.
            .into_handle();
        let mut builder = SessionBuilder::new()
            .known_nodes(&address.hosts)
            .default_execution_profile_handle(profile.clone())
            .pool_size(PoolSize::PerHost(NonZeroUsize::new(2).expect("two is not zero")))
            // Of the schema the driver needs how the keyspace is replicated, to find nodes by
            // tokens.
            .keyspaces_to_fetch([&address.keyspace])
            .fetch_full_schema_metadata(false)
            .refresh_metadata_on_auto_schema_agreement(false)
            .schema_agreement_interval(Duration::from_millis(20))
            .keepalive_interval(KEEPALIVE)
            .keepalive_timeout(KEEPALIVE)
            .connection_timeout(Duration::from_secs(10));
        if let Some(data_center) = &address.data_center {
            builder = builder.prefer_datacenter(data_center.clone());
        }
        if let Some(login) = address.login.clone().or_else(Login::from_environment) {
            builder = builder.user(&login.user, login.find_password()?);
        }
        if let Some(files) = &address.tls {
            builder = builder.tls_context(Some(files.read()?));
        }
        let session = builder.build().await.map_err(|error| {
            Error::unavailable(format!(
                "no connection to Cassandra at {}: {error}: check hosts, ports, user, password and certificates",
                address.hosts.join(", ")
            ))
            .with_source(error)
        })?;
        let in_flight = Semaphore::new(IN_FLIGHT_MAX);
        let kib_in_flight = Semaphore::new(IN_FLIGHT_KIB);
        // The home of the store is in its own table: until that is read all data centres count.
        let (quorum_scope, keyspace) = (QuorumScope::Everywhere, address.keyspace.clone());
        let data_center = address.data_center.clone();
        Ok(Self {
            session,
            profile,
            nodes,
            data_center,
            quorum_scope,
            keyspace,
            in_flight,
            kib_in_flight,
        })
    }

    /// From now on the majority of one data centre decides, and only its nodes are asked.
    pub(crate) fn use_home(&mut self, home: &str) {
        let nodes = DefaultPolicy::builder()
            .prefer_datacenter(home.to_owned())
            .permit_dc_failover(false)
            .build();
        let profile = self
            .profile
            .pointee_to_builder()
            .consistency(Consistency::LocalQuorum)
            .serial_consistency(Some(SerialConsistency::LocalSerial))
            .load_balancing_policy(nodes.clone())
            .build();
        self.profile.map_to_another_profile(profile);
        self.nodes = nodes;
        self.data_center = Some(home.to_owned());
        self.quorum_scope = QuorumScope::Home;
    }

    /// Whose majority decides.
    pub(crate) fn quorum_scope(&self) -> QuorumScope {
        self.quorum_scope
    }

    /// What the error of a request means, with the level that it was sent at.
    fn failed(
        &self,
        what: &str,
        level: Option<Consistency>,
        error: ExecutionError,
    ) -> RequestFailure {
        let level = quorum_scope::name(level.unwrap_or(self.quorum_scope.majority()));
        let state = self.session.get_cluster_state();
        let silent = state.get_nodes_info().iter().filter(|node| !node.is_connected());
        let silent: Vec<String> = silent.map(|node| node.address.to_string()).collect();
        failure(RequestInfo { what, level, silent: &silent.join(", ") }, error)
    }

    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    pub(crate) fn keyspace(&self) -> &str {
        &self.keyspace
    }

    /// Carries out a change of the schema, and waits until all nodes know of it.
    ///
    /// All processes ask the same node, as far as they reach it: two nodes that make a table of one
    /// name at the same time make two, one of which is lost later with all its rows.
    pub(crate) async fn change_schema(&self, cql: &str) -> Result<()> {
        let mut tries = RetryBackoff::new();
        loop {
            let mut statement = Statement::new(cql);
            statement.set_request_timeout(Some(SCHEMA_TIME));
            if let Some(node) = self.first_node() {
                let others = Arc::clone(&self.nodes);
                statement.set_load_balancing_policy(Some(Arc::new(FirstNode { node, others })));
            }
            match self.session.query_unpaged(statement, ()).await {
                Ok(_) => return Ok(()),
                Err(error) => {
                    tries.wait_after(self.failed("a change of the schema", None, error)).await?
                }
            }
        }
    }

    /// The node that all processes agree on: the first by its number, of those that are reached.
    fn first_node(&self) -> Option<Arc<Node>> {
        let state = self.session.get_cluster_state();
        let wanted = self.data_center.as_deref();
        let nodes = state.get_nodes_info().iter();
        nodes
            .filter(|node| wanted.is_none() || node.datacenter.as_deref() == wanted)
            .filter(|node| node.is_connected())
            .min_by_key(|node| node.host_id)
            .cloned()
    }

    /// Prepares a statement that changes nothing when it comes twice.
    pub(crate) async fn prepare(&self, cql: String) -> Result<PreparedStatement> {
        let mut statement = self.prepare_once(cql).await?;
        statement.set_is_idempotent(true);
        Ok(statement)
    }

    /// Prepares a statement on a condition, which is never sent twice.
    pub(crate) async fn prepare_conditional(&self, cql: String) -> Result<PreparedStatement> {
        let mut statement = self.prepare_once(cql).await?;
        statement.set_is_idempotent(false);
        statement.set_request_timeout(Some(DECISION_TIME));
        statement.set_retry_policy(Some(Arc::new(FallthroughRetryPolicy::new())));
        Ok(statement)
    }

    async fn prepare_once(&self, cql: String) -> Result<PreparedStatement> {
        let mut tries = RetryBackoff::new();
        loop {
            match self.session.prepare(cql.as_str()).await {
                Ok(statement) => return Ok(statement),
                Err(error) => tries.wait_after(not_prepared(error)).await?,
            }
        }
    }

    /// Asks a majority for rows, as often as it takes.
    pub(crate) async fn ask(
        &self,
        what: &str,
        statement: &PreparedStatement,
        values: impl SerializeRow,
    ) -> Result<QueryRowsResult> {
        let mut tries = RetryBackoff::new();
        loop {
            let _permit = self.permit().await;
            match self.session.execute_unpaged(statement, &values).await {
                Ok(answer) => {
                    return answer.into_rows_result().map_err(|error| not_understood(what, error));
                }
                Err(error) => {
                    let level = statement.get_consistency();
                    tries.wait_after(self.failed(what, level, error)).await?;
                }
            }
        }
    }

    /// The same at another level.
    pub(crate) async fn ask_at(
        &self,
        level: Consistency,
        what: &str,
        statement: &PreparedStatement,
        values: impl SerializeRow,
    ) -> Result<QueryRowsResult> {
        if level == self.quorum_scope.majority() {
            return self.ask(what, statement, values).await;
        }
        let mut statement = statement.clone();
        statement.set_consistency(level);
        self.ask(what, &statement, values).await
    }

    /// The same, of a node first that has what is asked for.
    pub(crate) async fn ask_first(
        &self,
        node: &Arc<Node>,
        level: Consistency,
        what: &str,
        statement: &PreparedStatement,
        values: impl SerializeRow,
    ) -> Result<QueryRowsResult> {
        let mut statement = statement.clone();
        statement.set_consistency(level);
        let (node, others) = (Arc::clone(node), Arc::clone(&self.nodes));
        statement.set_load_balancing_policy(Some(Arc::new(FirstNode { node, others })));
        self.ask(what, &statement, values).await
    }

    /// Finds the first node that has each token: in the data centre that is preferred, if one is.
    pub(crate) fn owners(&self) -> impl Fn(i64) -> Option<Arc<Node>> {
        let state = self.session.get_cluster_state();
        move |token| {
            let mut around = state.replica_locator().ring().ring_range(Token::new(token));
            let wanted = self.data_center.as_deref();
            around.find(|node| wanted.is_none() || node.datacenter.as_deref() == wanted).cloned()
        }
    }

    /// Carries out a statement under a time stamp of its own, as often as it takes.
    pub(crate) async fn store(
        &self,
        level: Consistency,
        what: &str,
        statement: &PreparedStatement,
        values: impl SerializeRow,
    ) -> Result<()> {
        self.store_while(&|| Ok(()), level, what, statement, values).await
    }

    /// The same as long as `may_send` does not object: it is asked right before each try.
    async fn store_while(
        &self,
        may_send: SendCheck<'_>,
        level: Consistency,
        what: &str,
        statement: &PreparedStatement,
        values: impl SerializeRow,
    ) -> Result<()> {
        let mut statement = statement.clone();
        statement.set_consistency(level);
        let mut tries = RetryBackoff::new();
        loop {
            let _permit = self.permit().await;
            may_send()?;
            match self.session.execute_unpaged(&statement, &values).await {
                Ok(_) => return Ok(()),
                Err(error) => tries.wait_after(self.failed(what, Some(level), error)).await?,
            }
        }
    }

    /// Carries out a statement with several values of one partition, all under one time stamp, as
    /// often as it takes.
    pub(crate) async fn store_all<V: SerializeRow>(
        &self,
        level: Consistency,
        what: &str,
        statement: &PreparedStatement,
        values: &[V],
        stamp: Stamp,
    ) -> Result<()> {
        self.store_all_while(&|| Ok(()), level, what, statement, values, stamp).await
    }

    /// The same as long as `may_send` does not object: it is asked right before each try.
    pub(crate) async fn store_all_while<V: SerializeRow>(
        &self,
        may_send: SendCheck<'_>,
        level: Consistency,
        what: &str,
        statement: &PreparedStatement,
        values: &[V],
        stamp: Stamp,
    ) -> Result<()> {
        if let [only] = values {
            let mut statement = statement.clone();
            statement.set_timestamp(Some(stamp.0));
            return self.store_while(may_send, level, what, &statement, only).await;
        }
        // Unlogged: all values are of one partition, which a node stores as one anyway.
        let mut batch = Batch::new(BatchType::Unlogged);
        batch.set_consistency(level);
        batch.set_timestamp(Some(stamp.0));
        batch.set_is_idempotent(true);
        values.iter().for_each(|_| batch.append_statement(statement.clone()));
        let mut tries = RetryBackoff::new();
        loop {
            let _permit = self.permit().await;
            // Asked with the permit at hand: the wait for it may have been long.
            may_send()?;
            match self.session.batch(&batch, values).await {
                Ok(_) => return Ok(()),
                Err(error) => tries.wait_after(self.failed(what, Some(level), error)).await?,
            }
        }
    }

    /// Carries out one statement on a condition, once. Answers whether the condition held.
    pub(crate) async fn decide(
        &self,
        what: &str,
        statement: &PreparedStatement,
        values: &[CqlValue],
        deadline: Deadline,
    ) -> std::result::Result<bool, RequestFailure> {
        let _permit = self.permit().await;
        // The last check before anything is done: this process may have paused.
        deadline.check(AN_ANSWER).map_err(RequestFailure::Refused)?;
        let answer = self.session.execute_unpaged(statement, values).await;
        let answer =
            answer.map_err(|error| self.failed(what, statement.get_consistency(), error))?;
        is_applied(answer.into_rows_result().map_err(|error| not_understood(what, error)))
    }

    /// The same for statements on conditions of one partition, carried out together.
    pub(crate) async fn decide_batch(
        &self,
        what: &str,
        mut batch: Batch,
        values: &[Vec<CqlValue>],
        deadline: Deadline,
    ) -> std::result::Result<bool, RequestFailure> {
        batch.set_request_timeout(Some(DECISION_TIME));
        batch.set_retry_policy(Some(Arc::new(FallthroughRetryPolicy::new())));
        let _permit = self.permit().await;
        deadline.check(AN_ANSWER).map_err(RequestFailure::Refused)?;
        let answer = self.session.batch(&batch, values).await;
        let answer = answer.map_err(|error| self.failed(what, batch.get_consistency(), error))?;
        is_applied(answer.into_rows_result().map_err(|error| not_understood(what, error)))
    }

    /// Waits until so many bytes of rows may be sent.
    pub(crate) async fn room(&self, bytes: usize) -> tokio::sync::SemaphorePermit<'_> {
        let kib = bytes.div_ceil(1 << 10).clamp(1, IN_FLIGHT_KIB) as u32;
        self.kib_in_flight.acquire_many(kib).await.expect("the semaphore is never closed")
    }

    async fn permit(&self) -> tokio::sync::SemaphorePermit<'_> {
        self.in_flight.acquire().await.expect("the semaphore is never closed")
    }
}

/// Reads the column that says whether a condition held.
fn is_applied(answer: Result<QueryRowsResult>) -> std::result::Result<bool, RequestFailure> {
    let read = || {
        let answer = answer?;
        let row: Row =
            answer.first_row().map_err(|error| not_understood("a conditional write", error))?;
        match row.columns.first() {
            Some(Some(CqlValue::Boolean(is_applied))) => Ok(*is_applied),
            other => Err(not_understood("a conditional write", format!("{other:?}"))),
        }
    };
    read().map_err(RequestFailure::InDoubt)
}

/// The rows of an answer, one after another.
pub(crate) fn rows<'a, R: DeserializeRow<'a, 'a> + 'a>(
    what: &'a str,
    answer: &'a QueryRowsResult,
) -> Result<impl Iterator<Item = Result<R>> + 'a> {
    let rows = answer.rows::<R>().map_err(|error| not_understood(what, error))?;
    Ok(rows.map(move |row| row.map_err(|error| not_understood(what, error))))
}

/// Waits longer from try to try.
pub(crate) struct RetryBackoff {
    count: u32,
    start: Instant,
}

impl RetryBackoff {
    pub(crate) fn new() -> Self {
        Self { count: 0, start: Instant::now() }
    }

    /// Waits before the next try.
    ///
    /// # Errors
    /// The failure, if trying again is no use.
    pub(crate) async fn wait_after(&mut self, failure: RequestFailure) -> Result<()> {
        self.count += 1;
        let error = failure.into_error();
        let is_over = self.are_over() || (self.count >= READ_FAILURES && is_too_much(&error));
        if !error.is_retryable() || is_over {
            return Err(error);
        }
        self.pause().await;
        Ok(())
    }

    /// Whether there are tries left, after a pause.
    pub(crate) async fn wait_again(&mut self) -> bool {
        self.count += 1;
        if self.are_over() {
            return false;
        }
        self.pause().await;
        true
    }

    fn are_over(&self) -> bool {
        self.count >= ATTEMPTS || self.start.elapsed() >= RETRY_TIME_MAX
    }

    async fn pause(&self) {
        let most_ms = 10 << self.count.min(7);
        tokio::time::sleep(Duration::from_millis(most_ms / 2 + jitter() % (most_ms / 2))).await;
    }
}

/// Some number, so that those who collided part.
pub(crate) fn jitter() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0)
}
