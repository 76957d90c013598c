//! Properties by type; which of them were asked for is remembered, because the others mean nothing
//! here.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::time::Duration;

use tonnage::{Error, Result};

use super::Properties;

/// Reads properties by type. A property that is not given leaves what is there alone.
pub(crate) struct Typed<'a> {
    properties: &'a Properties,
    asked: RefCell<BTreeSet<&'a str>>,
}

impl<'a> Typed<'a> {
    /// Reads these.
    pub(crate) fn new(properties: &'a Properties) -> Self {
        Typed { properties, asked: RefCell::default() }
    }

    /// A whole number of at most `max`.
    pub(crate) fn count<T: TryFrom<u64>>(
        &self,
        name: &'static str,
        max: u64,
        into: &mut T,
    ) -> Result<()> {
        let remedy = match max {
            u64::MAX => "give a whole number, 0 or more".to_owned(),
            _ => format!("give a whole number from 0 to {max}"),
        };
        let count = |text: &str| text.parse().ok().filter(|count: &u64| *count <= max);
        self.parsed(name, &remedy, |text| T::try_from(count(text)?).ok(), into)
    }

    /// A number from 0 to `max`, infinite ones left out.
    pub(crate) fn number(&self, name: &'static str, max: f64, into: &mut f64) -> Result<()> {
        let remedy = match max {
            f64::MAX => "give a number, 0 or more".to_owned(),
            _ => format!("give a number from 0 to {max}"),
        };
        let read =
            |text: &str| text.parse().ok().filter(|number: &f64| (0.0..=max).contains(number));
        self.parsed(name, &remedy, read, into)
    }

    /// Whole seconds.
    pub(crate) fn seconds(&self, name: &'static str, into: &mut Duration) -> Result<()> {
        let mut seconds = into.as_secs();
        self.count(name, u64::from(u32::MAX), &mut seconds)?;
        *into = Duration::from_secs(seconds);
        Ok(())
    }

    /// `true` or `false`.
    pub(crate) fn flag(&self, name: &'static str, into: &mut bool) -> Result<()> {
        self.choice(name, &[("true", true), ("false", false)], into)
    }

    /// One of a few words.
    pub(crate) fn choice<T: Copy>(
        &self,
        name: &'static str,
        choices: &[(&str, T)],
        into: &mut T,
    ) -> Result<()> {
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        let remedy = format!("give one of {}", words.join(", "));
        let find = |text: &str| choices.iter().find(|(word, _)| text.eq_ignore_ascii_case(word));
        self.parsed(name, &remedy, |text| find(text).map(|(_, choice)| *choice), into)
    }

    /// A text that is not empty.
    pub(crate) fn text(&self, name: &'static str, into: &mut String) -> Result<()> {
        self.parsed(name, "give a name", |text| (!text.is_empty()).then(|| text.to_owned()), into)
    }

    /// Refuses what YCSB knows and this program does not do.
    pub(crate) fn refuse(
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
    pub(crate) fn ignored(&self) -> Vec<String> {
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
            *into = read(property.value.trim())
                .ok_or_else(|| Error::invalid(property.message(remedy)))?;
        }
        Ok(())
    }
}
