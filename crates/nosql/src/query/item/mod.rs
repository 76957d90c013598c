//! Values of queries.

mod document;
mod from_value;
mod group_form;
mod instant;
mod kinds;
mod number;
mod order;
mod sequence;
mod text;
mod written;

pub(crate) use document::item_of_view;
pub(crate) use from_value::item_of_value;
pub(crate) use group_form::GroupForm;
pub(crate) use instant::{Instant, InstantParts};
pub(crate) use kinds::{Item, Members};
pub(crate) use number::{NumberContext, decimal, number_of_literal};
pub(crate) use order::{compare_items, equal_items, sort_order};
pub(crate) use sequence::Sequence;
pub(crate) use text::{double_text, float_text, item_text, json_text_of};
pub(crate) use written::write_item;
