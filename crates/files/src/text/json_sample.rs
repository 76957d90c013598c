//! Infers columns from a sample of JSON records.

use std::collections::HashMap;

use arrow::datatypes::{DataType, Field};
use tonnage_engine::Result;

use super::block::{Cell, CellKind};
use super::block_reader::BlockReader;
use super::document::DocumentPaths;
use super::json_detect::find_shape;
use super::json_scan::{JsonSyntaxError, decoded_name, scan_object};
use super::json_shape::{JsonShape, records_inside};
use crate::inferred_column::InferredColumn;
use crate::options::{DocumentOptions, ReadOptions, Sample};
use crate::rename::Renames;
use crate::source::Source;
use crate::type_guess::{TypeGuess, json_field};

/// How much is looked at in one go.
const CHUNK_BYTES: usize = 1 << 20;

/// What was seen of the members of JSON records.
pub(crate) enum JsonColumns {
    /// Every member, in the order in which they first appear.
    Members { columns: Vec<(String, TypeGuess)>, places: HashMap<String, usize>, renames: Renames },
    /// The values at the paths of columns that are taken out of documents.
    Paths { paths: DocumentPaths, guesses: Vec<TypeGuess>, options: DocumentOptions },
}

/// How much was looked at.
pub(crate) struct SampledRecords {
    pub(crate) records: u64,
    pub(crate) is_whole: bool,
    /// Where in the only object of the source there is an array of objects.
    pub(crate) records_at: Option<String>,
}

impl JsonColumns {
    pub(crate) fn of(options: &ReadOptions) -> Self {
        match &options.documents {
            None => JsonColumns::Members {
                columns: Vec::new(),
                places: HashMap::new(),
                renames: options.renames.clone(),
            },
            Some(documents) => JsonColumns::Paths {
                paths: DocumentPaths::of(documents),
                guesses: vec![TypeGuess::default(); documents.paths.len()],
                options: documents.clone(),
            },
        }
    }

    /// Looks at the records of a source, chunk by chunk.
    pub(crate) fn sample_source(
        &mut self,
        source: &Source,
        blocks: &mut BlockReader,
        options: &ReadOptions,
        sample: &Sample,
    ) -> Result<SampledRecords> {
        let mut shape = find_shape(source, blocks, options)?;
        let mut seen = SampledRecords { records: 0, is_whole: false, records_at: None };
        let (mut bytes_seen, mut wanted) = (0, CHUNK_BYTES);
        while bytes_seen < sample.bytes && seen.records < sample.records as u64 {
            blocks.look_ahead(wanted);
            let at_end = blocks.has_ended();
            let bytes = blocks.look_ahead(0);
            let left = sample.records - seen.records as usize;
            let (records, used) = self.sample_chunk(&mut shape, bytes, at_end, left);
            // A document may stand on one line, as a record does.
            let is_alone = seen.records == 0 && records == 1 && at_end;
            if is_alone && (shape.is_sequence() || shape.has_lines()) {
                seen.records_at = records_inside(bytes);
            }
            (seen.records, bytes_seen) = (seen.records + records as u64, bytes_seen + used);
            if at_end {
                seen.is_whole = blocks.is_at_end() && seen.records < sample.records as u64;
                break;
            }
            // A record longer than what was looked at needs a longer look.
            wanted = match used {
                0 if blocks.came_early() => wanted,
                0 => wanted * 2,
                _ => CHUNK_BYTES,
            };
            if wanted > options.record_bytes_max * 2 {
                break;
            }
            blocks.skip_header(used, 0);
        }
        Ok(seen)
    }

    /// Looks at the records of a chunk; gives how many there were and how many bytes they took.
    fn sample_chunk(
        &mut self,
        shape: &mut JsonShape,
        bytes: &[u8],
        at_end: bool,
        records_max: usize,
    ) -> (usize, usize) {
        let (mut start, mut records) = (0, 0);
        while records < records_max {
            let Some((from, to, next)) = shape.next_record(bytes, start, at_end) else { break };
            if !bytes[from..to].trim_ascii().is_empty() {
                self.observe(bytes, from, to);
                records += 1;
            }
            start = next;
        }
        (records, start)
    }

    /// Looks at whole records in memory.
    pub(crate) fn sample_text(&mut self, mut shape: JsonShape, bytes: &[u8]) {
        self.sample_chunk(&mut shape, bytes, true, usize::MAX);
    }

    /// Looks at one record. A broken one says what it can: the reader will reject it in its turn.
    fn observe(&mut self, text: &[u8], start: usize, end: usize) {
        match self {
            JsonColumns::Members { columns, places, renames } => {
                let _ = scan_object(text, start, end, |member| {
                    let name = renames.of(&decoded_name(&member)).into_owned();
                    // Names of columns are the same in any case of letters.
                    let place = *places.entry(name.to_lowercase()).or_insert_with(|| {
                        columns.push((name, TypeGuess::default()));
                        columns.len() - 1
                    });
                    // A null makes a column, but says nothing of its type.
                    if member.value.kind() != CellKind::Missing {
                        columns[place].1.observe(member.value, member.value.bytes(text));
                    }
                    Ok::<(), JsonSyntaxError>(())
                });
            }
            JsonColumns::Paths { paths, guesses, .. } => {
                let mut cells = vec![Cell::MISSING; guesses.len()];
                paths.find(text, start, end, &mut cells);
                for (guess, cell) in guesses
                    .iter_mut()
                    .zip(&cells)
                    .filter(|(_, cell)| cell.kind() != CellKind::Missing)
                {
                    guess.observe(*cell, cell.bytes(text));
                }
            }
        }
    }

    /// The columns: for documents the generated key, those with a path of their own, and the
    /// documents.
    pub(crate) fn into_columns(self) -> Vec<(String, InferredColumn)> {
        let seen = |guess: TypeGuess| InferredColumn::Guessed(Box::new(guess));
        match self {
            JsonColumns::Members { columns, .. } => {
                columns.into_iter().map(|(name, guess)| (name, seen(guess))).collect()
            }
            JsonColumns::Paths { guesses, options, .. } => {
                let told = |field: Field| (field.name().clone(), InferredColumn::Declared(field));
                let generated = options
                    .generated_key
                    .iter()
                    .map(|name| told(Field::new(name, DataType::FixedSizeBinary(16), true)));
                let found = options
                    .paths
                    .iter()
                    .zip(guesses)
                    .map(|((name, _), guess)| (name.clone(), seen(guess)));
                generated.chain(found).chain([told(json_field(&options.column))]).collect()
            }
        }
    }
}
