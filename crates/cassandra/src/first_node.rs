//! Sends a request for several partitions to a node that has all of them. The driver cannot choose
//! that node, since the statement names no single partition.

use std::sync::Arc;

use scylla::cluster::{ClusterState, Node, NodeRef};
use scylla::policies::load_balancing::{FallbackPlan, LoadBalancingPolicy, RoutingInfo};
use scylla::routing::Shard;

/// One node first, then those that another policy names.
#[derive(Debug)]
pub(crate) struct FirstNode {
    pub(crate) node: Arc<Node>,
    pub(crate) others: Arc<dyn LoadBalancingPolicy>,
}

impl LoadBalancingPolicy for FirstNode {
    fn pick<'a>(
        &'a self,
        request: &'a RoutingInfo,
        cluster: &'a ClusterState,
    ) -> Option<(NodeRef<'a>, Option<Shard>)> {
        match self.node.is_connected() {
            true => Some((&self.node, None)),
            false => self.others.pick(request, cluster),
        }
    }

    fn fallback<'a>(
        &'a self,
        request: &'a RoutingInfo,
        cluster: &'a ClusterState,
    ) -> FallbackPlan<'a> {
        self.others.fallback(request, cluster)
    }

    fn name(&self) -> String {
        format!("FirstNode({})", self.others.name())
    }
}
