//! What is drawn from a caller's source.
//!
//! A source may wait: for a client, for a queue, for the very rows that its next key depends on.
//! Whoever draws from it himself waits with it, and with him the keys that he has gathered. So a
//! source that may wait is drawn from by a thread of its own, which lays what comes into a bounded
//! queue; who makes tasks of it is told when nothing has come for a moment, and hands over what he
//! has. Sources that are known to have everything at hand need no thread.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tonnage_engine::Result;

use crate::read::dispatch::next_of;

/// For how long nothing comes before what was gathered is handed over.
const PAUSE: Duration = Duration::from_micros(500);
/// How long what comes one by one is left to gather in the queue: waking somebody for each item
/// costs more than the item.
const NAP: Duration = Duration::from_micros(100);
/// Items that wait in the queue of a source of single keys.
pub(crate) const SINGLE_ITEMS_MAX: usize = 1_024;
/// Batches that wait in the queue of a source of batches.
pub(crate) const BATCHES_MAX: usize = 2;

/// What a look at a source gives.
pub(crate) enum Drawn<T> {
    /// The next item.
    Item(T),
    /// Nothing now.
    Nothing,
    /// The source has ended.
    End,
}

impl<T> Drawn<T> {
    /// The same of something that is no item.
    pub(crate) fn without_item<U>(&self) -> Drawn<U> {
        if matches!(self, Drawn::Nothing) { Drawn::Nothing } else { Drawn::End }
    }
}

impl<T> From<Option<T>> for Drawn<T> {
    fn from(next: Option<T>) -> Self {
        next.map_or(Drawn::End, Drawn::Item)
    }
}

/// A caller's source, drawn from here or by a thread of its own.
pub(crate) struct Source<T> {
    draws: Draws<T>,
    is_at_hand: bool,
    items_max: usize,
}

/// The caller's own iterator.
type Items<T> = Box<dyn Iterator<Item = Result<T>> + Send>;

enum Draws<T> {
    Here(Items<T>),
    Away { queue: Arc<Queue<T>>, taken: VecDeque<Result<T>> },
}

impl<T: Send + 'static> Source<T> {
    /// A source whose queue holds so many items at most.
    pub(crate) fn new<I>(items: I, items_max: usize) -> Self
    where
        I: Iterator<Item = Result<T>> + Send + 'static,
    {
        Self { draws: Draws::Here(Box::new(items)), is_at_hand: false, items_max }
    }

    /// The same, where it is known whether the items need only be taken.
    pub(crate) fn at_hand(mut self, is_at_hand: bool) -> Self {
        self.is_at_hand = is_at_hand;
        self
    }

    /// Whether drawing an item never waits.
    pub(crate) fn is_at_hand(&self) -> bool {
        self.is_at_hand || self.size_hint().1 == Some(0)
    }

    /// How many items are left, as far as is known without waiting.
    pub(crate) fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.draws {
            Draws::Here(items) => items.size_hint(),
            Draws::Away { queue, taken } => {
                let state = queue.lock();
                let here = taken.len() + state.items.len();
                let (least, most) = if state.has_ended { (0, Some(0)) } else { state.hint };
                (least.saturating_add(here), most.map(|most| most.saturating_add(here)))
            }
        }
    }

    /// Lets a thread of its own draw from now on, where drawing may wait.
    pub(crate) fn detach(&mut self) {
        if self.is_at_hand() {
            return;
        }
        let queue = Arc::new(Queue::new(self.items_max));
        let away = Draws::Away { queue: queue.clone(), taken: VecDeque::new() };
        if let Draws::Here(items) = std::mem::replace(&mut self.draws, away) {
            queue.lock().hint = items.size_hint();
            std::thread::spawn(move || queue.fill(items));
        }
    }

    /// The next item; waits for it.
    pub(crate) fn next(&mut self) -> Result<Option<T>> {
        match self.draw(None) {
            Ok(Drawn::Item(item)) => Ok(Some(item)),
            Ok(_) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The next item, unless none comes for a moment.
    pub(crate) fn next_soon(&mut self) -> Result<Drawn<T>> {
        self.draw(Some(PAUSE))
    }

    fn draw(&mut self, longest: Option<Duration>) -> Result<Drawn<T>> {
        let next = match &mut self.draws {
            Draws::Here(items) => next_of(items).transpose(),
            Draws::Away { queue, taken } => {
                if taken.is_empty() && !queue.take(taken, longest) {
                    return Ok(Drawn::Nothing);
                }
                taken.pop_front()
            }
        };
        next.map_or(Ok(Drawn::End), |item| item.map(Drawn::Item))
    }
}

impl<T> Drop for Source<T> {
    fn drop(&mut self) {
        if let Draws::Away { queue, .. } = &self.draws {
            queue.lock().is_unwanted = true;
            queue.has_room.notify_all();
        }
    }
}

/// Items on their way from the thread that draws them.
struct Queue<T> {
    state: Mutex<State<T>>,
    items_max: usize,
    has_items: Condvar,
    has_room: Condvar,
}

struct State<T> {
    items: VecDeque<Result<T>>,
    /// How many are still in the source, as it says itself.
    hint: (usize, Option<usize>),
    has_ended: bool,
    /// Nobody draws any more.
    is_unwanted: bool,
    /// How many items somebody waits for.
    waited_for: usize,
}

impl<T> Queue<T> {
    fn new(items_max: usize) -> Self {
        let state = State {
            items: VecDeque::new(),
            hint: (0, None),
            has_ended: false,
            is_unwanted: false,
            waited_for: usize::MAX,
        };
        Self {
            state: Mutex::new(state),
            items_max,
            has_items: Condvar::new(),
            has_room: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Draws until the source ends or fails, or nobody wants more.
    fn fill(&self, mut items: Items<T>) {
        loop {
            let next = next_of(&mut items).transpose();
            let hint = items.size_hint();
            let mut state = self.lock();
            while state.items.len() >= self.items_max && !state.is_unwanted {
                state = self.has_room.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if state.is_unwanted {
                return;
            }
            state.hint = hint;
            state.has_ended = !matches!(next, Some(Ok(_)));
            state.items.extend(next);
            if state.has_ended || state.items.len() >= state.waited_for {
                self.has_items.notify_one();
            }
            if state.has_ended {
                return;
            }
        }
    }

    /// Takes all items that are there, or come within some time; false when there are none, and
    /// more may come.
    fn take(&self, taken: &mut VecDeque<Result<T>>, longest: Option<Duration>) -> bool {
        let mut state = self.lock();
        let since = Instant::now();
        while state.items.is_empty() && !state.has_ended {
            state = match longest {
                // Whoever has nothing to do is woken by the first item.
                None => {
                    state.waited_for = 1;
                    self.has_items.wait(state).unwrap_or_else(PoisonError::into_inner)
                }
                Some(longest) if since.elapsed() >= longest => return false,
                Some(_) => {
                    state.waited_for = self.items_max / 2;
                    let waited = self.has_items.wait_timeout(state, NAP);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        state.waited_for = usize::MAX;
        if state.items.len() >= self.items_max {
            self.has_room.notify_one();
        }
        std::mem::swap(&mut state.items, taken);
        true
    }
}

/// Whether an iterator of this type has its items in memory: drawing from it cannot wait. Of others
/// it is not known.
pub(crate) fn has_items_in_memory<I>() -> bool {
    const KNOWN: [&str; 6] = [
        "alloc::vec::into_iter::IntoIter<",
        "core::array::iter::IntoIter<",
        "core::iter::sources::once::Once<",
        "core::iter::sources::empty::Empty<",
        "core::option::IntoIter<",
        "core::iter::sources::repeat_n::RepeatN<",
    ];
    let name = std::any::type_name::<I>();
    KNOWN.iter().any(|known| name.starts_with(known))
}
