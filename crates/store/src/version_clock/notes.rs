//! The notes of one shard, by version.

/// How many notes a shard has at most: 2 MiB of memory.
pub(super) const NOTES_MAX: usize = 1 << 17;
/// How many notes are removed at least, so that this is rare.
const FREED_MIN: usize = NOTES_MAX / 16;
/// By which fraction of its age a time may be wrong, once there are too many notes.
const AGE_FRACTION: u64 = 8_192;

/// That versions from this one on were given at this time or later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Note {
    pub(super) version: u64,
    pub(super) time_ms: u64,
}

/// Notes in the order of their versions.
#[derive(Debug, Default)]
pub(super) struct Notes {
    notes: Vec<Note>,
}

impl Notes {
    pub(super) fn of(mut notes: Vec<Note>) -> Self {
        notes.sort_unstable_by_key(|note| note.version);
        Self { notes }
    }

    /// The time of the last note before a version; 0 where the version is older than all notes.
    pub(super) fn time_ms(&self, version: u64) -> u64 {
        let before = self.notes.partition_point(|note| note.version <= version);
        before.checked_sub(1).map_or(0, |last| self.notes[last].time_ms)
    }

    /// Adds the newest note. Returns those that had to be removed.
    pub(super) fn add(&mut self, note: Note) -> Vec<Note> {
        self.notes.push(note);
        let (mut removed, mut fraction) = (Vec::new(), AGE_FRACTION);
        // Once is enough for ten years of writing.
        while self.notes.len() > NOTES_MAX - removed.len().min(1) * FREED_MIN && fraction > 1 {
            self.thin(note.time_ms, fraction, &mut removed);
            fraction /= 2;
        }
        // By a clock that is set back again and again no note has an age.
        if self.notes.len() > NOTES_MAX {
            removed.extend(self.notes.drain(1..NOTES_MAX / 2));
        }
        removed
    }

    /// Removes notes without which no time becomes wrong by more than this fraction of its age.
    fn thin(&mut self, now_ms: u64, fraction: u64, removed: &mut Vec<Note>) {
        let notes = std::mem::take(&mut self.notes);
        for (place, note) in notes.iter().enumerate() {
            // The first and the last note stay, whatever is between them.
            let neighbours = self.notes.last().zip(notes.get(place + 1));
            let gap_ms = neighbours.map(|(kept, next)| kept.time_ms.abs_diff(next.time_ms));
            let off_max_ms = now_ms.saturating_sub(note.time_ms) / fraction;
            match gap_ms.is_some_and(|gap_ms| gap_ms <= off_max_ms) {
                true => removed.push(*note),
                false => self.notes.push(*note),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_that_of_the_last_note_before() {
        let notes = [(30, 300), (10, 100), (20, 50)];
        let notes = notes.map(|(version, time_ms)| Note { version, time_ms });
        let notes = Notes::of(notes.to_vec());
        // The clock was set back between the first and the second.
        for (version, time_ms) in [(9, 0), (10, 100), (19, 100), (20, 50), (29, 50), (99, 300)] {
            assert_eq!(notes.time_ms(version), time_ms, "{version}");
        }
    }

    #[test]
    fn old_times_become_coarser_and_memory_is_bounded() {
        let (mut notes, mut removed, mut thinned) = (Notes::default(), 0, 0);
        let count = 6 * NOTES_MAX as u64;
        for number in 1..=count {
            let of_this = notes.add(Note { version: number, time_ms: 100 * number }).len();
            removed += of_this;
            thinned += u64::from(of_this > 0);
            assert!(notes.notes.len() <= NOTES_MAX);
        }
        assert_eq!(notes.notes.len() + removed, count as usize);
        assert!((1..60).contains(&thinned), "{thinned}");
        for version in (1..=count).step_by(997) {
            let (age, off) = (count - version, version - notes.time_ms(version) / 100);
            assert!(off <= age / AGE_FRACTION + 1, "{version}: {off} steps of {age}");
        }
    }

    #[test]
    fn memory_is_bounded_by_a_clock_that_is_set_back_all_the_time() {
        let mut notes = Notes::default();
        for number in 1..=2 * NOTES_MAX as u64 {
            notes.add(Note { version: number, time_ms: u64::MAX / 2 - number * number });
            assert!(notes.notes.len() <= NOTES_MAX);
        }
        assert_eq!(notes.time_ms(1), u64::MAX / 2 - 1);
    }

    #[test]
    fn notes_after_a_pause_stay() {
        let mut notes = Notes::default();
        let hour_ms = 3_600_000;
        for number in 1..=3 * NOTES_MAX as u64 {
            // Two bursts with an hour between them.
            let pause_ms = if number > 1_000 { hour_ms } else { 0 };
            notes.add(Note { version: number, time_ms: number + pause_ms });
        }
        let times = [notes.time_ms(1_000), notes.time_ms(1_001)];
        assert!(times[0] <= 1_000 && times[1] >= hour_ms, "{times:?}");
    }
}
