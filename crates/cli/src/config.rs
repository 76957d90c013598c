//! `--config FILE`: options of `load` and `unload` in a file of TOML, under the names that they
//! have on the command line.
//!
//! 1. The command line is read once for what is given there.
//! 2. Each key of the file that is not given there becomes an option after the command line.
//! 3. The result is parsed like any command line: a wrong value gives the same error as a typed
//!    one.

use std::ffi::OsString;
use std::path::Path;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use strsim::damerau_levenshtein;
use toml::{Table, Value};

use crate::exit::{CliResult, Failure};

/// The verbs that read such a file.
const VERBS: [&str; 2] = ["load", "unload"];
/// The name of the option.
const CONFIG: &str = "config";
/// The store is named by the environment before the file.
const STORE: (&str, &str) = ("store", "TONNAGE_STORE");

/// The options of a verb in a file.
#[derive(clap::Args, Clone)]
pub(crate) struct ConfigArgs {
    /// TOML file of options: `--on-existing keep` is `on_existing = "keep"` there, `--quiet` is
    /// `quiet = true`, and what may be repeated is a list. The command line wins over the file
    #[arg(long, value_name = "FILE")]
    config: Option<std::path::PathBuf>,
}

/// The command line with what the file adds that it names.
pub(crate) fn with_file(
    program: Command,
    mut arguments: Vec<OsString>,
) -> CliResult<Vec<OsString>> {
    // Errors of the command line are reported when it is finally read.
    let lenient = program.clone().ignore_errors(true);
    let Ok(matches) = lenient.try_get_matches_from(&arguments) else { return Ok(arguments) };
    let Some((verb, given)) = matches.subcommand().filter(|(verb, _)| VERBS.contains(verb)) else {
        return Ok(arguments);
    };
    let Ok(Some(file)) = given.try_get_one::<std::path::PathBuf>(CONFIG) else {
        return Ok(arguments);
    };
    let mut program = program;
    program.build();
    let Some(options) = program.find_subcommand(verb) else { return Ok(arguments) };
    let (named, positional) = options_from_file(file, &read(file)?, options, given)?;
    // A command line may end its options itself.
    let behind = arguments.iter().position(|argument| argument == "--");
    let ends = behind.unwrap_or(arguments.len());
    arguments.splice(ends..ends, named);
    if !positional.is_empty() {
        arguments.extend(behind.is_none().then(|| OsString::from("--")));
        arguments.extend(positional);
    }
    Ok(arguments)
}

fn read(file: &Path) -> CliResult<Table> {
    let told = |what: String| Failure::usage(format!("--config {}: {what}", file.display()));
    let text =
        std::fs::read_to_string(file).map_err(|error| told(format!("cannot be read: {error}")))?;
    text.parse().map_err(|error: toml::de::Error| told(error.to_string()))
}

/// What the file adds: options, and arguments without a name.
fn options_from_file(
    file: &Path,
    table: &Table,
    options: &Command,
    given: &ArgMatches,
) -> CliResult<(Vec<OsString>, Vec<OsString>)> {
    let (mut named, mut positional) = (Vec::new(), Vec::new());
    for (key, value) in table {
        let wrong =
            |what: &str| Failure::usage(format!("--config {}: {key}{what}", file.display()));
        // A key is checked even where the command line wins: else a typing error would show only
        // later.
        let option = find_option(options, key).ok_or_else(|| wrong(&unknown(options, key)))?;
        let texts = texts(option, value).map_err(wrong)?;
        if !is_open(option, options, given) {
            continue;
        }
        match option.get_long() {
            None => positional.push((option.get_index(), texts)),
            Some(name) if is_flag(option) => {
                named.extend(texts.iter().map(|_| OsString::from(format!("--{name}"))));
            }
            // Name and value are one argument: a value that begins with a hyphen is then no option.
            Some(name) => {
                named.extend(texts.iter().map(|text| OsString::from(format!("--{name}={text}"))));
            }
        }
    }
    // Positions decide: keys of a file stand in any order.
    positional.sort();
    let positional = positional.into_iter().flat_map(|(_, texts)| texts).map(OsString::from);
    Ok((named, positional.collect()))
}

/// The option of a key: underlines mean hyphens, as they may.
fn find_option<'a>(options: &'a Command, key: &str) -> Option<&'a Arg> {
    let name = key.replace('_', "-");
    options.get_arguments().find(|option| match option.get_long() {
        _ if [CONFIG, "help", "version"].contains(&option.get_id().as_str()) => false,
        Some(long) => long == name,
        None => option.get_id() == key,
    })
}

fn unknown(options: &Command, key: &str) -> String {
    let name = key.replace('_', "-");
    let names =
        options.get_arguments().filter(|option| find_option(options, option_key(option)).is_some());
    let near = names.map(option_key).filter(|known| is_near(known, &name));
    let near = near.min_by_key(|known| damerau_levenshtein(known, &name));
    let near = near.map(|near| format!(": is {} meant?", near.replace('-', "_")));
    format!(
        " is not an option of `tonnage {}`{}",
        options.get_name(),
        near.unwrap_or_else(|| ", whose --help lists them".to_owned())
    )
}

/// What an option is called in a file.
fn option_key(option: &Arg) -> &str {
    option.get_long().unwrap_or(option.get_id().as_str())
}

/// Whether one name begins with the other, or hardly differs from it.
fn is_near(known: &str, name: &str) -> bool {
    known.starts_with(name)
        || name.starts_with(known)
        || damerau_levenshtein(known, name) <= 2.min(name.len() / 2)
}

fn is_flag(option: &Arg) -> bool {
    matches!(option.get_action(), ArgAction::SetTrue)
}

/// Whether neither the command line nor the environment gives the option, or another that it cannot
/// stand beside.
fn is_open(option: &Arg, options: &Command, given: &ArgMatches) -> bool {
    let is_given = |option: &Arg| {
        given.try_contains_id(option.get_id().as_str()).is_ok()
            && matches!(
                given.value_source(option.get_id().as_str()),
                Some(ValueSource::CommandLine | ValueSource::EnvVariable)
            )
    };
    let (store, variable) = STORE;
    let by_environment = option.get_id() == store
        && std::env::var_os(variable).is_some_and(|store| !store.is_empty());
    // Either of two options may say that they cannot stand together.
    let excludes = |one: &Arg, other: &Arg| {
        let excluded = options.get_arg_conflicts_with(one);
        excluded.into_iter().any(|excluded| excluded.get_id() == other.get_id())
    };
    let mut all_given = options.get_arguments().filter(|other| is_given(other));
    !by_environment
        && !is_given(option)
        && !all_given.any(|other| excludes(option, other) || excludes(other, option))
}

/// The values of an option as they are typed.
fn texts(option: &Arg, value: &Value) -> Result<Vec<String>, &'static str> {
    if is_flag(option) {
        let is_set = value.as_bool().ok_or(" is a switch: write true or false")?;
        return Ok(if is_set { vec![String::new()] } else { Vec::new() });
    }
    let is_repeated = matches!(option.get_action(), ArgAction::Append);
    match value {
        Value::Array(_) | Value::Table(_) if !is_repeated => Err(" takes one value, not several"),
        Value::Array(values) => values.iter().map(text).collect(),
        // COLUMN=EXPRESSION and the like.
        Value::Table(pairs) => {
            let pair = |(name, value): (&String, &Value)| Ok(format!("{name}={}", text(value)?));
            pairs.iter().map(pair).collect()
        }
        value => Ok(vec![text(value)?]),
    }
}

fn text(value: &Value) -> Result<String, &'static str> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Float(number) => Ok(number.to_string()),
        Value::Boolean(_) => Err(" takes a text or a number, not true or false"),
        _ => Err(" takes a text or a number: put it in quotes"),
    }
}
