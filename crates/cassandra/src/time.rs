//! The clocks of the nodes, as this process sees them.
//!
//! Cassandra orders what happens to a row by time stamps. A small write gets the stamp of the node
//! that coordinates it, a whole millisecond or little more. A load and a range deletion choose
//! their stamps. These must be later than all that was acknowledged before, and earlier than all
//! that begins afterwards:
//!
//! 1. The process asks every node for its clock, every two seconds. The time that a question takes
//!    bounds how far that clock is ahead of the process's own steady clock. The machine's wall
//!    clock is never used.
//! 2. A *stamp* is half a millisecond or more past the latest whole millisecond that any clock may
//!    show now.
//! 3. A writer under a stamp waits until every clock is past that millisecond. Only then may others
//!    write the same partition.
//!
//! Versions of rows follow the same time, so that they grow over processes. The last ten bits hold
//! the number of the process, as far as they can.

use std::collections::HashMap;
use std::sync::RwLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use scylla::policies::load_balancing::{NodeIdentifier, SingleTargetLoadBalancingPolicy};
use scylla::statement::{Consistency, Statement};
use scylla::value::CqlTimestamp;
use tonnage_engine::sync::{read, write};
use tonnage_engine::{Error, Result};

use crate::cluster::Cluster;
use crate::error::{RequestInfo, failure, not_understood};
use crate::stamp::{Stamp, VERSION_STEP};

/// How far the clocks of two nodes may be apart.
const APART_MAX_US: i64 = 500_000;

/// For how long a writer waits until a node's clock is past a stamp.
const AHEAD_MAX_US: i64 = 5_000_000;

/// How often a node is asked in one measurement: the answers bound its clock together.
const QUESTIONS: usize = 5;

/// How long a measurement is good for.
const GOOD_FOR: Duration = Duration::from_secs(60);

/// How fast a clock may run away from another: as fast as NTP lets it while it sets it right.
const DRIFT_US_PER_SECOND: i64 = 500;

/// How many stamps there are in a millisecond, one for each process.
const STAMPS: u64 = 400;

/// What is known of the clocks of all nodes.
pub(crate) struct ClusterTime {
    start: Instant,
    nodes: RwLock<HashMap<String, ClockOffset>>,
    last_version: AtomicU64,
    /// The number of this process among those that have the store open.
    writer: u64,
}

/// How far a node's clock is ahead of this process's steady one: between these two.
#[derive(Clone, Copy, Debug)]
struct ClockOffset {
    least_us: i64,
    most_us: i64,
    measured: Instant,
}

impl ClockOffset {
    /// The same some time later, when the clocks may have run apart.
    fn at(self, now: Instant) -> Self {
        let age = now.saturating_duration_since(self.measured);
        let drift_us = age.as_millis() as i64 * DRIFT_US_PER_SECOND / 1_000;
        Self { least_us: self.least_us - drift_us, most_us: self.most_us + drift_us, measured: now }
    }

    /// What two measurements say together; the newer one alone when a clock was set in between.
    fn and(self, newer: Self) -> Self {
        let earlier = self.at(newer.measured);
        let both = Self {
            least_us: earlier.least_us.max(newer.least_us),
            most_us: earlier.most_us.min(newer.most_us),
            measured: newer.measured,
        };
        if both.least_us <= both.most_us { both } else { newer }
    }
}

impl ClusterTime {
    /// Nothing is known yet: measure first.
    pub(crate) fn new(writer: u64) -> Self {
        Self {
            start: Instant::now(),
            nodes: RwLock::default(),
            last_version: AtomicU64::new(0),
            writer,
        }
    }

    /// Asks every node for its clock. Nodes that do not answer are left as they are.
    ///
    /// # Errors
    /// `Unavailable` when no node answers.
    pub(crate) async fn measure(&self, cluster: &Cluster) -> Result<()> {
        let nodes = cluster.session().get_cluster_state().get_nodes_info().to_vec();
        let mut last_error = None;
        for node in nodes {
            let name = node.address.to_string();
            let mut question = Statement::new("SELECT toTimestamp(now()) FROM system.local");
            question.set_consistency(Consistency::One);
            question.set_is_idempotent(true);
            question.set_request_timeout(Some(Duration::from_secs(2)));
            // `now()` is the clock of the node that is asked: each must answer for itself.
            question.set_load_balancing_policy(Some(SingleTargetLoadBalancingPolicy::new(
                NodeIdentifier::Node(node),
                None,
            )));
            for _ in 0..QUESTIONS {
                match self.ask(cluster, &question).await {
                    Ok(offset) => self.learn(&name, offset),
                    Err(error) => {
                        // A paused node costs one time-out, not one for each question.
                        last_error = Some(error);
                        break;
                    }
                }
            }
        }
        let mut nodes = write(&self.nodes);
        let is_good = |offset: &ClockOffset| offset.measured.elapsed() < GOOD_FOR;
        // Old readings are better than none.
        if nodes.values().any(is_good) {
            nodes.retain(|_, offset| is_good(offset));
        }
        match last_error {
            Some(error) if nodes.is_empty() => Err(error),
            _ => Ok(()),
        }
    }

    async fn ask(&self, cluster: &Cluster, question: &Statement) -> Result<ClockOffset> {
        let what = "asking a node for its clock";
        let before_us = self.steady_us();
        let answer = cluster.session().query_unpaged(question.clone(), ()).await;
        let after_us = self.steady_us();
        let answer = answer.map_err(|error| {
            failure(RequestInfo { what, level: "ONE", silent: "" }, error).into_error()
        })?;
        let answer = answer.into_rows_result().map_err(|error| not_understood(what, error))?;
        let (CqlTimestamp(now_ms),) =
            answer.first_row().map_err(|error| not_understood(what, error))?;
        // The answer leaves out the microseconds.
        Ok(ClockOffset {
            least_us: now_ms * 1_000 - after_us,
            most_us: (now_ms + 1) * 1_000 - before_us,
            measured: Instant::now(),
        })
    }

    fn learn(&self, node: &str, newer: ClockOffset) {
        let mut nodes = write(&self.nodes);
        let known = nodes.get(node).map_or(newer, |known| known.and(newer));
        nodes.insert(node.to_owned(), known);
    }

    /// Time since the engine was opened.
    fn steady_us(&self) -> i64 {
        self.start.elapsed().as_micros() as i64
    }

    /// The least and the greatest that any node's clock may show now.
    fn now_us(&self) -> (i64, i64) {
        let (now, steady_us) = (Instant::now(), self.steady_us());
        let nodes = read(&self.nodes);
        let offsets = nodes.values().map(|offset| offset.at(now));
        offsets.fold((i64::MAX, i64::MIN), |(least, most), offset| {
            (least.min(offset.least_us + steady_us), most.max(offset.most_us + steady_us))
        })
    }

    /// Checks that the nodes agree about the time.
    ///
    /// # Errors
    /// `Unavailable`, naming the nodes whose clocks are furthest apart.
    pub(crate) fn check(&self) -> Result<()> {
        let nodes = read(&self.nodes);
        let first = nodes.iter().min_by_key(|(_, offset)| offset.most_us);
        let last = nodes.iter().max_by_key(|(_, offset)| offset.least_us);
        let (Some((behind, least)), Some((ahead, most))) = (first, last) else {
            return Err(Error::unavailable("no node of the cluster tells its clock: try again"));
        };
        let apart_us = most.least_us - least.most_us;
        if apart_us > APART_MAX_US {
            return Err(Error::unavailable(format!(
                "the clock of node {ahead} is {} ms ahead of that of node {behind}: set both, by NTP or chrony",
                apart_us / 1_000
            )));
        }
        Ok(())
    }

    /// A time stamp later than all that was acknowledged so far.
    pub(crate) fn stamp(&self) -> Stamp {
        let (_, most_us) = self.now_us();
        Stamp(most_us / 1_000 * 1_000 + 500 + (self.writer % STAMPS) as i64)
    }

    /// How long ago a time stamp was, at least.
    pub(crate) fn since(&self, stamp: Stamp) -> Duration {
        let (least_us, _) = self.now_us();
        Duration::from_micros(u64::try_from(least_us.saturating_sub(stamp.0)).unwrap_or(0))
    }

    /// Waits until all that begins from now on comes after a time stamp.
    ///
    /// # Errors
    /// `Unavailable` where that takes long: clocks are far apart, or were set back.
    pub(crate) async fn pass(&self, stamp: Stamp) -> Result<()> {
        loop {
            let (least_us, _) = self.now_us();
            let missing_us = (stamp.0 / 1_000 + 1) * 1_000 - least_us;
            if missing_us <= 0 {
                return Ok(());
            }
            if missing_us > AHEAD_MAX_US {
                self.check()?;
                return Err(Error::unavailable(format!(
                    "rows were stored {} s ahead of the clock of a node: set the clocks of all nodes, by NTP or chrony, and try again by then",
                    missing_us / 1_000_000
                )));
            }
            tokio::time::sleep(Duration::from_micros(missing_us as u64)).await;
        }
    }

    /// A version greater than all that this process has given or seen.
    pub(crate) fn version(&self) -> u64 {
        let (_, most_us) = self.now_us();
        let now = most_us.max(0) as u64 * VERSION_STEP + self.writer % VERSION_STEP;
        let next = |last: u64| now.max(last + VERSION_STEP);
        let last = self
            .last_version
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |last| Some(next(last)))
            .expect("there is always a next version");
        next(last)
    }

    /// Makes versions greater than one that was seen.
    pub(crate) fn observe(&self, version: u64) {
        self.last_version.fetch_max(version, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(nodes: &[(&str, i64, i64)]) -> ClusterTime {
        let time = ClusterTime::new(7);
        for (name, least_us, most_us) in nodes {
            let (least_us, most_us) = (*least_us, *most_us);
            time.learn(name, ClockOffset { least_us, most_us, measured: Instant::now() });
        }
        time
    }

    #[test]
    fn a_stamp_is_past_every_clock_and_no_whole_millisecond() {
        let time = time(&[("a", 1_000_000, 1_000_900), ("b", 1_400_000, 1_400_900)]);
        let Stamp(stamp) = time.stamp();
        assert!(stamp >= 1_400_500, "{stamp}");
        assert_eq!(stamp % 1_000, 507);
    }

    #[test]
    fn versions_grow_within_a_microsecond_and_past_what_was_seen() {
        let time = time(&[("a", 0, 0)]);
        let versions: Vec<u64> = (0..100).map(|_| time.version()).collect();
        assert!(versions.is_sorted_by(|before, after| before < after));
        time.observe(1 << 60);
        assert!(time.version() > 1 << 60);
    }

    #[test]
    fn clocks_that_are_far_apart_are_named() {
        assert!(time(&[("a", 0, 1_000), ("b", 400_000, 401_000)]).check().is_ok());
        let error = time(&[("a", 0, 1_000), ("b", 700_000, 701_000)]).check().unwrap_err();
        assert!(error.message().contains("node b is 699 ms ahead"), "{error}");
        assert!(error.is_retryable() && error.message().contains("node a"), "{error}");
    }

    /// Such a write waited without a word until the clock had caught up: for an hour, or a year.
    #[tokio::test]
    async fn nobody_waits_for_a_clock_that_is_far_behind() {
        let apart = time(&[("a", 0, 1_000), ("b", 60_000_000, 60_001_000)]);
        let error = apart.pass(apart.stamp()).await.unwrap_err();
        assert!(error.is_retryable() && error.message().contains("node b is"), "{error}");
        let together = time(&[("a", 0, 1_000)]);
        let error = together.pass(Stamp(3_600_000_500)).await.unwrap_err();
        assert!(error.message().contains(" s ahead of the clock"), "{error}");
        together.pass(together.stamp()).await.unwrap();
    }

    #[test]
    fn a_clock_that_was_set_is_believed_anew() {
        let measured = Instant::now();
        let earlier = ClockOffset { least_us: 0, most_us: 1_000, measured };
        let closer = earlier.and(ClockOffset { least_us: 500, most_us: 5_000, measured });
        assert_eq!((closer.least_us, closer.most_us), (500, 1_000));
        let set = earlier.and(ClockOffset { least_us: 9_000, most_us: 9_500, measured });
        assert_eq!((set.least_us, set.most_us), (9_000, 9_500));
    }
}
