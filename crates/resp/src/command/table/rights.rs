//! What commands need for each of their keys.

use crate::access::KeyRight;

pub(super) const NONE: &[KeyRight] = &[];
pub(super) const READ: &[KeyRight] = &[KeyRight::Read];
pub(super) const INSERT: &[KeyRight] = &[KeyRight::Insert];
pub(super) const UPDATE: &[KeyRight] = &[KeyRight::Update];
pub(super) const DELETE: &[KeyRight] = &[KeyRight::Delete];
/// What stores a value whatever was there.
pub(super) const UPSERT: &[KeyRight] = &[KeyRight::Insert, KeyRight::Update];
/// What also says what was there.
pub(super) const CHANGE: &[KeyRight] = &[KeyRight::Read, KeyRight::Insert, KeyRight::Update];
/// What takes away a part, and the whole with the last part.
pub(super) const REDUCE: &[KeyRight] = &[KeyRight::Update, KeyRight::Delete];
/// What also tells the part.
pub(super) const DRAIN: &[KeyRight] = &[KeyRight::Read, KeyRight::Update, KeyRight::Delete];
pub(super) const TAKE: &[KeyRight] = &[KeyRight::Read, KeyRight::Delete];
pub(super) const TOUCH: &[KeyRight] = &[KeyRight::Read, KeyRight::Update];
pub(super) const MOVE: &[KeyRight] =
    &[KeyRight::Read, KeyRight::Insert, KeyRight::Update, KeyRight::Delete];
