//! Measures the clocks of the nodes every two seconds, as long as the store is open.

use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::store::ClusterStore;

/// A node that has just joined, or is back, takes part at once: so its clock must be known soon.
const PERIOD: Duration = Duration::from_secs(2);

/// Begins to watch. Ends by itself when the store is closed.
pub(crate) fn watch_clocks(store: &Arc<ClusterStore>) {
    let weak = Arc::downgrade(store);
    store.runtime.handle().spawn(watch(weak));
}

async fn watch(store: Weak<ClusterStore>) {
    loop {
        tokio::time::sleep(PERIOD).await;
        let Some(store) = store.upgrade() else { return };
        // Calls that need the clocks get the error: measurements expire.
        let _ = store.time.measure(&store.cluster).await;
    }
}
