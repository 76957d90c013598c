//! What is said of a function that is not there.

use datafusion::common::DataFusionError;
use tonnage::Error;

use super::nearest::nearest;

/// For a function that the planner did not find, in an expression or in FROM: what it may have been
/// meant for, of the `names` that there are.
pub(crate) fn missing_function(
    error: &DataFusionError,
    names: impl FnOnce() -> Vec<String>,
) -> Option<Error> {
    let message = error.find_root().message();
    let (what, name) = called(&message)?;
    /// A name that differs by more is no slip of the finger.
    const LIKENESS_MIN: f64 = 0.65;
    let names = names();
    let meant = match nearest(name, LIKENESS_MIN, names.iter().map(String::as_str)) {
        Some(nearest) => format!("did you mean {nearest}? "),
        None => String::new(),
    };
    Some(Error::invalid(format!("there is no {what} {name}; {meant}SHOW FUNCTIONS lists all")))
}

/// What kind of function a message of the planner is about, and its name.
fn called(message: &str) -> Option<(&'static str, &str)> {
    let scalar = message.strip_prefix("Invalid function '").and_then(|rest| rest.split_once("'."));
    if let Some((name, _)) = scalar {
        return Some(("function", name));
    }
    let of_tables = message.strip_prefix("table function '")?.strip_suffix("' not found")?;
    Some(("table function", of_tables))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_that_is_written_alike_is_told() {
        let told = |message: &str| {
            let error = DataFusionError::Plan(message.to_owned());
            let names = || ["length", "lower", "range"].map(str::to_owned).to_vec();
            missing_function(&error, names).map(|error| error.message().to_owned())
        };
        assert_eq!(
            told("Invalid function 'lenght'.\nDid you mean 'left'?").unwrap(),
            "there is no function lenght; did you mean length? SHOW FUNCTIONS lists all"
        );
        assert_eq!(
            told("table function 'rnge' not found").unwrap(),
            "there is no table function rnge; did you mean range? SHOW FUNCTIONS lists all"
        );
        assert_eq!(
            told("Invalid function 'something'.\nDid you mean 'ceiling'?").unwrap(),
            "there is no function something; SHOW FUNCTIONS lists all"
        );
        assert!(told("anything else").is_none());
    }
}
