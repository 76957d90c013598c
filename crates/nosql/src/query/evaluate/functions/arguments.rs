//! What a function is given.

use crate::query::evaluate::evaluator::{Evaluator, fault};
use crate::query::evaluate::scope::Scope;
use crate::query::item::{Instant, Item, Sequence, item_text};
use crate::query::syntax::Place;
use crate::wire::{Failure, Outcome};

/// A function: what it gives for what it is given.
pub(super) type Function = fn(&Arguments<'_>) -> Outcome<Sequence>;

/// What a function is given, and where it is called.
pub(super) struct Arguments<'a> {
    pub(super) evaluator: &'a Evaluator,
    pub(super) place: Place,
    pub(super) name: &'a str,
    pub(super) given: Vec<Sequence>,
    pub(super) scope: &'a Scope<'a>,
}

impl Arguments<'_> {
    pub(super) fn len(&self) -> usize {
        self.given.len()
    }

    pub(super) fn sequence(&self, at: usize) -> &[Item] {
        self.given.get(at).map_or(&[], Sequence::as_slice)
    }

    /// The single item of an argument; nothing where it is NULL, empty or several.
    pub(super) fn item(&self, at: usize) -> Option<&Item> {
        match self.given.get(at) {
            Some(Sequence::One(item)) if !item.is_null() => Some(item),
            _ => None,
        }
    }

    pub(super) fn text(&self, at: usize) -> Option<String> {
        self.item(at).filter(|item| item.is_atomic()).map(item_text)
    }

    pub(super) fn double(&self, at: usize) -> Option<f64> {
        self.item(at).and_then(Item::double)
    }

    pub(super) fn whole(&self, at: usize) -> Option<i64> {
        self.item(at).and_then(Item::whole)
    }

    /// A timestamp, or the text of one.
    pub(super) fn instant(&self, at: usize) -> Option<Instant> {
        match self.item(at)? {
            Item::Timestamp(instant) => Some(*instant),
            Item::String(text) => Instant::parse(text, 9).ok(),
            _ => None,
        }
    }

    #[cold]
    pub(super) fn fault(&self, message: &str) -> Failure {
        fault(self.place, message)
    }
}

/// An item, or NULL where there is none.
pub(super) fn or_null(item: Option<impl Into<Item>>) -> Outcome<Sequence> {
    Ok(item.map_or_else(Sequence::null, |item| Sequence::One(item.into())))
}
