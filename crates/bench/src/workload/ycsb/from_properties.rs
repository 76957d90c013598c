//! From properties to the parameters of the core workload, and from the command line to workloads.

use std::path::Path;
use std::time::Duration;

use tonnage::{Error, Result};

use super::properties::{Properties, Typed};
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
                Some(before) if !draft.begins => before.properties.extend(&draft.properties),
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
            let properties = Properties::read(path)?;
            let name = path.file_name().map_or_else(|| file.into(), |name| name.to_string_lossy());
            return Ok(PropertyDraft {
                begins: properties.contains("workload"),
                workload: Workload::named(&name),
                properties,
            });
        }
        let workload = Workload::builtin(file).ok_or_else(|| {
            Error::invalid(format!("-P {file}: there is no such file, and no core workload of this name: there are a to f"))
        })?;
        Ok(PropertyDraft { begins: true, workload, properties: Properties::default() })
    }

    fn finish(mut self, arguments: &[String]) -> Result<Workload> {
        for argument in arguments {
            self.properties.push_argument(argument)?;
        }
        let typed = Typed::new(&self.properties);
        self.workload.core.apply(&typed)?;
        self.workload
            .core
            .check()
            .map_err(|error| error.at(format!("workload {}", self.workload.name)))?;
        self.workload.ignored = typed.ignored();
        Ok(self.workload)
    }
}

const LENGTHS: [(&str, Lengths); 3] =
    [("constant", Lengths::Constant), ("uniform", Lengths::Uniform), ("zipfian", Lengths::Zipfian)];

impl CoreOptions {
    /// Takes over what properties say.
    ///
    /// # Errors
    /// `Invalid` for a wrong value, `Unsupported` for what YCSB knows and this program does not do.
    fn apply(&mut self, typed: &Typed<'_>) -> Result<()> {
        let is_core = |class: &str| class == "CoreWorkload" || class.ends_with(".CoreWorkload");
        typed.refuse("workload", |class| !is_core(class), "only the core workload is offered")?;
        self.apply_sizes(typed)?;
        self.apply_fields(typed)?;
        self.apply_mix(typed)?;
        self.apply_requests(typed)?;
        self.apply_scans(typed)?;
        self.apply_driver(typed)
    }

    fn apply_sizes(&mut self, typed: &Typed<'_>) -> Result<()> {
        typed.count("recordcount", u64::MAX, &mut self.record_count)?;
        typed.count("operationcount", u64::MAX, &mut self.operation_count)?;
        typed.count("insertstart", u64::MAX, &mut self.insert_start)?;
        let mut insert_count = self.insert_count.unwrap_or(0);
        typed.count("insertcount", u64::MAX, &mut insert_count)?;
        self.insert_count = Some(insert_count).filter(|&count| count > 0);
        typed.text("table", &mut self.table)?;
        typed.choice(
            "insertorder",
            &[("hashed", InsertOrder::Hashed), ("ordered", InsertOrder::Ordered)],
            &mut self.insert_order,
        )?;
        typed.count("zeropadding", 100, &mut self.zero_padding)
    }

    fn apply_fields(&mut self, typed: &Typed<'_>) -> Result<()> {
        typed.count("fieldcount", 10_000, &mut self.field_count)?;
        typed.count("fieldlength", 64 << 20, &mut self.field_bytes)?;
        typed.count("minfieldlength", 64 << 20, &mut self.field_bytes_min)?;
        let remedy = "histograms of lengths are not offered: give constant, uniform or zipfian";
        typed.refuse("fieldlengthdistribution", |name| name == "histogram", remedy)?;
        typed.choice("fieldlengthdistribution", &LENGTHS, &mut self.field_length)?;
        typed.flag("readallfields", &mut self.read_all_fields)?;
        typed.flag("writeallfields", &mut self.write_all_fields)?;
        typed.flag("dataintegrity", &mut self.data_integrity)
    }

    fn apply_mix(&mut self, typed: &Typed<'_>) -> Result<()> {
        typed.number("readproportion", f64::MAX, &mut self.mix.read)?;
        typed.number("updateproportion", f64::MAX, &mut self.mix.update)?;
        typed.number("insertproportion", f64::MAX, &mut self.mix.insert)?;
        typed.number("scanproportion", f64::MAX, &mut self.mix.scan)?;
        typed.number("readmodifywriteproportion", f64::MAX, &mut self.mix.read_modify_write)
    }

    fn apply_requests(&mut self, typed: &Typed<'_>) -> Result<()> {
        let (mut data_fraction, mut operation_fraction) = (0.2, 0.8);
        typed.number("hotspotdatafraction", 1.0, &mut data_fraction)?;
        typed.number("hotspotopnfraction", 1.0, &mut operation_fraction)?;
        let (mut percentile, mut fraction) = (95.0, 0.857_142_857_1);
        typed.number("exponential.percentile", 100.0, &mut percentile)?;
        typed.number("exponential.frac", f64::MAX, &mut fraction)?;
        let all = [
            Requests::Uniform,
            Requests::Zipfian,
            Requests::Latest,
            Requests::Hotspot { data_fraction, operation_fraction },
            Requests::Sequential,
            Requests::Exponential { percentile, fraction },
        ];
        typed.choice(
            "requestdistribution",
            &all.map(|requests| (requests.name(), requests)),
            &mut self.requests,
        )
    }

    fn apply_scans(&mut self, typed: &Typed<'_>) -> Result<()> {
        typed.count("minscanlength", u64::from(u32::MAX), &mut self.scan_length_min)?;
        typed.count("maxscanlength", u64::from(u32::MAX), &mut self.scan_length_max)?;
        typed.choice("scanlengthdistribution", &LENGTHS[1..], &mut self.scan_length)
    }

    fn apply_driver(&mut self, typed: &Typed<'_>) -> Result<()> {
        let mut rate = self.rate.unwrap_or(0.0);
        typed.number("target", f64::MAX, &mut rate)?;
        self.rate = Some(rate).filter(|&rate| rate > 0.0);
        let mut threads = self.threads.unwrap_or(0);
        typed.count("threads", 10_000, &mut threads)?;
        typed.count("threadcount", 10_000, &mut threads)?;
        self.threads = Some(threads).filter(|&threads| threads > 0);
        let mut seconds_max = self.seconds_max.unwrap_or_default();
        typed.seconds("maxexecutiontime", &mut seconds_max)?;
        self.seconds_max = Some(seconds_max).filter(|&seconds| seconds > Duration::ZERO);
        typed.count(
            "core_workload_insertion_retry_limit",
            u64::from(u32::MAX),
            &mut self.insert_retries,
        )?;
        typed.seconds("core_workload_insertion_retry_interval", &mut self.insert_retry_interval)
    }
}

#[cfg(test)]
mod tests;
