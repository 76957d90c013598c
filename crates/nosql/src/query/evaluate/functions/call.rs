//! Calls of functions.

use super::arguments::Arguments;
use super::registry::{AGGREGATES, find};
use crate::query::evaluate::evaluator::{Evaluator, fault};
use crate::query::evaluate::scope::Scope;
use crate::query::item::Sequence;
use crate::query::syntax::Place;
use crate::wire::{Failure, Outcome};

/// Whether there is a function of that name that takes so many arguments.
///
/// # Errors
/// That there is none.
pub(crate) fn check_call(place: Place, name: &str, arguments: usize) -> Outcome<()> {
    let arity = || {
        let message = format!("Could not find function with name {name} and arity {arguments}");
        fault(place, &message)
    };
    if AGGREGATES.contains(&name) {
        return if arguments == 1 { Ok(()) } else { Err(arity()) };
    }
    match find(name) {
        Some((_, fewest, most, _)) if (*fewest..=*most).contains(&arguments) => Ok(()),
        Some(_) => Err(arity()),
        None => Err(Failure::argument(format!("Error: Could not find function with name {name}"))),
    }
}

/// What a function gives.
pub(crate) fn call_function(
    evaluator: &Evaluator,
    place: Place,
    name: &str,
    given: Vec<Sequence>,
    scope: &Scope<'_>,
) -> Outcome<Sequence> {
    let (_, _, _, function) = find(name).ok_or_else(|| {
        Failure::argument(format!("Error: Could not find function with name {name}"))
    })?;
    function(&Arguments { evaluator, place, name, given, scope })
}
