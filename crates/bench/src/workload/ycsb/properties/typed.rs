//! Properties by type; which of them were asked for is remembered, because the others mean nothing
//! here.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::str::FromStr;
use std::time::Duration;

use tonnage::{Error, Result};

use super::Properties;

/// Reads properties by type. A property that is not given leaves what is there alone.
pub(in crate::workload::ycsb) struct Typed<'a> {
    properties: &'a Properties,
    asked: RefCell<BTreeSet<&'a str>>,
}

impl<'a> Typed<'a> {
    /// Reads these.
    pub(in crate::workload::ycsb) fn new(properties: &'a Properties) -> Self {
        Typed { properties, asked: RefCell::default() }
    }

    /// A whole number of at most `max`.
    pub(in crate::workload::ycsb) fn count<T: TryFrom<u64>>(
        &self,
        name: &'static str,
        max: u64,
        into: &mut T,
    ) -> Result<()> {
        let remedy = match max {
            u64::MAX => "give a whole number, 0 or more".to_owned(),
            _ => format!("give a whole number from 0 to {max}"),
        };
        let read = |text: &str| {
            text.parse()
                .ok()
                .filter(|&count| count <= max)
                .and_then(|count| T::try_from(count).ok())
        };
        self.parsed(name, &remedy, read, into)
    }

    /// A number from 0 to `max`, infinite ones left out.
    pub(in crate::workload::ycsb) fn number(
        &self,
        name: &'static str,
        max: f64,
        into: &mut f64,
    ) -> Result<()> {
        let remedy = match max {
            f64::MAX => "give a number, 0 or more".to_owned(),
            _ => format!("give a number from 0 to {max}"),
        };
        self.parsed(
            name,
            &remedy,
            |text| f64::from_str(text).ok().filter(|number| (0.0..=max).contains(number)),
            into,
        )
    }

    /// Whole seconds.
    pub(in crate::workload::ycsb) fn seconds(
        &self,
        name: &'static str,
        into: &mut Duration,
    ) -> Result<()> {
        let mut seconds = into.as_secs();
        self.count(name, u64::from(u32::MAX), &mut seconds)?;
        *into = Duration::from_secs(seconds);
        Ok(())
    }

    /// `true` or `false`.
    pub(in crate::workload::ycsb) fn flag(
        &self,
        name: &'static str,
        into: &mut bool,
    ) -> Result<()> {
        self.choice(name, &[("true", true), ("false", false)], into)
    }

    /// One of a few words.
    pub(in crate::workload::ycsb) fn choice<T: Copy>(
        &self,
        name: &'static str,
        choices: &[(&str, T)],
        into: &mut T,
    ) -> Result<()> {
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        let remedy = format!("give one of {}", words.join(", "));
        let read = |text: &str| {
            choices
                .iter()
                .find(|(word, _)| text.eq_ignore_ascii_case(word))
                .map(|(_, choice)| *choice)
        };
        self.parsed(name, &remedy, read, into)
    }

    /// A text that is not empty.
    pub(in crate::workload::ycsb) fn text(
        &self,
        name: &'static str,
        into: &mut String,
    ) -> Result<()> {
        self.parsed(name, "give a name", |text| (!text.is_empty()).then(|| text.to_owned()), into)
    }

    /// Refuses what YCSB knows and this program does not do.
    pub(in crate::workload::ycsb) fn refuse(
        &self,
        name: &'static str,
        is_refused: impl Fn(&str) -> bool,
        remedy: &str,
    ) -> Result<()> {
        self.asked.borrow_mut().insert(name);
        match self.properties.get(name) {
            Some(property) if is_refused(property.value.trim()) => {
                Err(Error::unsupported(property.message(remedy)))
            }
            _ => Ok(()),
        }
    }

    /// Names that were given and never asked for.
    pub(in crate::workload::ycsb) fn ignored(&self) -> Vec<String> {
        let asked = self.asked.borrow();
        let names: BTreeSet<&str> =
            self.properties.all.iter().map(|property| property.name.as_str()).collect();
        names.into_iter().filter(|name| !asked.contains(name)).map(str::to_owned).collect()
    }

    fn parsed<T>(
        &self,
        name: &'static str,
        remedy: &str,
        read: impl Fn(&str) -> Option<T>,
        into: &mut T,
    ) -> Result<()> {
        self.asked.borrow_mut().insert(name);
        if let Some(property) = self.properties.get(name) {
            *into = read(property.value.trim()).ok_or_else(|| property.wrong(remedy))?;
        }
        Ok(())
    }
}
