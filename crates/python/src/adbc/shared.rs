//! Open stores of the package, which connections of the driver take by their number.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use tonnage::internal::sync::lock;

use crate::handle::StoreHandle;

static NEXT: AtomicU64 = AtomicU64::new(1);
static SHARED: Mutex<Option<HashMap<u64, StoreHandle>>> = Mutex::new(None);

fn shared() -> MutexGuard<'static, Option<HashMap<u64, StoreHandle>>> {
    lock(&SHARED)
}

/// Gives an open store a number for one connection.
pub(crate) fn share(handle: StoreHandle) -> u64 {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    shared().get_or_insert_default().insert(number, handle);
    number
}

/// Takes the store of a number.
pub(super) fn take(number: u64) -> Option<StoreHandle> {
    shared().as_mut()?.remove(&number)
}
