//! The space of large objects.

use std::sync::Arc;

use tonnage_engine::{Deadline, Engine, ErrorKind, KeyPart, KeyShape, Result, SpaceId};

use crate::inner::Inner;

/// The name of the space of large objects; created with the first of them.
const SPACE: &str = "large objects";

/// The space of large objects, if there are any.
pub(super) fn space(store: &Inner) -> Result<Option<SpaceId>> {
    if let Some(space) = store.lobs.get() {
        return Ok(Some(*space));
    }
    Ok(find_space(&*store.engine)?.map(|space| *store.lobs.get_or_init(|| space)))
}

/// The same without a store.
pub(crate) fn find_space(engine: &dyn Engine) -> Result<Option<SpaceId>> {
    let found = engine.spaces()?.into_iter().find(|space| space.name == SPACE);
    Ok(found.map(|space| space.id))
}

pub(super) fn ensure_space(store: &Arc<Inner>, deadline: Deadline) -> Result<SpaceId> {
    if let Some(space) = space(store)? {
        return Ok(space);
    }
    match store.engine.create_space_by(SPACE, &KeyShape::new([KeyPart::Path]), deadline) {
        Err(error) if error.kind() == ErrorKind::Conflict => space(store)?.ok_or(error),
        made => made.map(|made| *store.lobs.get_or_init(|| made)),
    }
}
