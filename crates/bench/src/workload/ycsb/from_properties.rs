//! From properties to the parameters of the core workload, and from the command line to workloads.

use std::path::Path;
use std::time::Duration;

use tonnage::{Error, Result};

use super::properties::{self, Properties, Property};
use super::{CoreOptions, InsertOrder, Lengths, Requests, Workload};

impl Workload {
    /// The workloads that a command line of YCSB names: `files` are its `-P`, `arguments` its `-p`,
    /// which hold for all of them.
    ///
    /// A letter from `a` to `f` is a core workload, whatever files there are (`./a` is a file); so
    /// is `workloada` where there is no such file. The first file begins a workload, and so does
    /// every later one that names its class with the property `workload`; files that do not, such
    /// as one with sizes alone, add to the workload before them. Without files, the arguments alone
    /// make one.
    ///
    /// # Errors
    /// `Invalid` for a file that is not there, and for a wrong value, with the file, the line, the
    /// property and the remedy; `Unsupported` for what YCSB knows and this program does not do.
    pub fn from_arguments(files: &[String], arguments: &[String]) -> Result<Vec<Workload>> {
        let mut drafts: Vec<PropertyDraft> = Vec::new();
        for file in files {
            let draft = PropertyDraft::read(file)?;
            match drafts.last_mut() {
                Some(before) if !draft.begins => before.properties.extend(draft.properties),
                _ => drafts.push(draft),
            }
        }
        if drafts.is_empty() {
            drafts.push(PropertyDraft {
                begins: true,
                workload: Workload::named("core"),
                properties: Properties::default(),
            });
        }
        drafts.into_iter().map(|draft| draft.finish(arguments)).collect()
    }

    fn named(name: &str) -> Workload {
        Workload { name: name.to_owned(), core: CoreOptions::default(), ignored: Vec::new() }
    }
}

/// Whether a core workload is meant, not a file.
fn is_core_letter(name: &str) -> bool {
    name.len() == 1 && Workload::builtin(name).is_some()
}

/// A workload whose properties are still coming together.
struct PropertyDraft {
    /// Whether it is one of its own, or adds to the one before.
    begins: bool,
    workload: Workload,
    properties: Properties,
}

impl PropertyDraft {
    fn read(file: &str) -> Result<Self> {
        let path = Path::new(file);
        if path.is_file() && !is_core_letter(file) {
            let properties = properties::read(path)?;
            let name = path.file_name().map_or_else(|| file.into(), |name| name.to_string_lossy());
            return Ok(PropertyDraft {
                begins: properties.contains_key("workload"),
                workload: Workload::named(&name),
                properties,
            });
        }
        let workload = Workload::builtin(file).ok_or_else(|| {
            Error::invalid(format!(
                "-P {file}: there is no such file, and no core workload of this name: there are a \
                 to f"
            ))
        })?;
        Ok(PropertyDraft { begins: true, workload, properties: Properties::default() })
    }

    fn finish(mut self, arguments: &[String]) -> Result<Workload> {
        for argument in arguments {
            let property = Property::from_argument(argument)?;
            self.properties.insert(property.name.clone(), property);
        }
        let Workload { name, core, ignored } = &mut self.workload;
        for property in self.properties.values() {
            if !core.set(property)? {
                ignored.push(property.name.clone());
            }
        }
        core.check().map_err(|error| error.at(format!("workload {name}")))?;
        Ok(self.workload)
    }
}

impl CoreOptions {
    /// Takes over what a property says. Gives whether it means something here.
    ///
    /// # Errors
    /// `Invalid` for a wrong value, `Unsupported` for what YCSB knows and this program does not do.
    fn set(&mut self, given: &Property) -> Result<bool> {
        const LENGTH_MAX: u64 = u32::MAX as u64;
        const FIELD_BYTES_MAX: u64 = 64 << 20;
        let seconds = || Ok::<_, Error>(Duration::from_secs(given.count(LENGTH_MAX)?));
        let proportion = || given.number(f64::MAX);
        match given.name.as_str() {
            "workload" => refuse_other_class(given)?,
            "recordcount" => self.record_count = given.count(u64::MAX)?,
            "operationcount" => self.operation_count = given.count(u64::MAX)?,
            "insertstart" => self.insert_start = given.count(u64::MAX)?,
            "insertcount" => self.insert_count = above_zero(given.count(u64::MAX)?),
            "table" => self.table = given.nonempty()?,
            "insertorder" => self.insert_order = given.choice(&InsertOrder::ALL)?,
            "zeropadding" => self.zero_padding = given.count(100)?,
            "fieldcount" => self.field_count = given.count(10_000)?,
            "fieldlength" => self.field_bytes = given.count(FIELD_BYTES_MAX)?,
            "minfieldlength" => self.field_bytes_min = given.count(FIELD_BYTES_MAX)?,
            "fieldlengthdistribution" if given.text() == "histogram" => {
                let remedy =
                    "histograms of lengths are not offered: give constant, uniform or zipfian";
                return Err(given.unsupported(remedy));
            }
            "fieldlengthdistribution" => self.field_length = given.choice(&Lengths::ALL)?,
            "readallfields" => self.read_all_fields = given.choice(&[true, false])?,
            "writeallfields" => self.write_all_fields = given.choice(&[true, false])?,
            "dataintegrity" => self.data_integrity = given.choice(&[true, false])?,
            "readproportion" => self.mix.read = proportion()?,
            "updateproportion" => self.mix.update = proportion()?,
            "insertproportion" => self.mix.insert = proportion()?,
            "scanproportion" => self.mix.scan = proportion()?,
            "readmodifywriteproportion" => self.mix.read_modify_write = proportion()?,
            "requestdistribution" => self.requests = given.choice(&Requests::ALL)?,
            "hotspotdatafraction" => self.hotspot_data_fraction = given.number(1.0)?,
            "hotspotopnfraction" => self.hotspot_operation_fraction = given.number(1.0)?,
            "exponential.percentile" => self.exponential_percentile = given.number(100.0)?,
            "exponential.frac" => self.exponential_fraction = given.number(f64::MAX)?,
            "minscanlength" => self.scan_length_min = given.count(LENGTH_MAX)?,
            "maxscanlength" => self.scan_length_max = given.count(LENGTH_MAX)?,
            // Without `Lengths::Constant`, the first of them: YCSB has no such scans.
            "scanlengthdistribution" => self.scan_length = given.choice(&Lengths::ALL[1..])?,
            "target" => self.rate = above_zero(given.number(f64::MAX)?),
            // Comes before `threads`, and wins.
            "threadcount" => self.threads = above_zero(given.count(10_000)?),
            "threads" => self.threads = self.threads.or(above_zero(given.count(10_000)?)),
            "maxexecutiontime" => self.seconds_max = above_zero(seconds()?),
            "core_workload_insertion_retry_limit" => {
                self.insert_retries = given.count(LENGTH_MAX)?
            }
            "core_workload_insertion_retry_interval" => self.insert_retry_interval = seconds()?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

fn refuse_other_class(given: &Property) -> Result<()> {
    let class = given.text();
    if class == "CoreWorkload" || class.ends_with(".CoreWorkload") {
        return Ok(());
    }
    Err(given.unsupported("only the core workload is offered"))
}

/// To YCSB, 0 is as if nothing was given.
fn above_zero<T: Default + PartialOrd>(given: T) -> Option<T> {
    Some(given).filter(|given| *given > T::default())
}

#[cfg(test)]
mod tests {
    /// Once a file called `a` in the directory of the day was taken for the workload that was meant.
    #[test]
    fn a_letter_is_a_core_workload_whatever_files_there_are() {
        let is_core = super::is_core_letter;
        assert!(is_core("a") && is_core("F"));
        assert!(!is_core("g") && !is_core("workloada") && !is_core("./a"));
    }
}
