//! Draws items (keys or batches of keys) from a caller's source.
//!
//! A source may wait: for a client, for a queue, for the very rows that its next key depends on. A
//! reader that drew from it directly would wait too, with all keys that it has gathered. So a
//! thread of its own draws from such a source and puts the items into a bounded queue. When nothing
//! comes for a short time, the reader is notified, and turns the keys that it has into tasks. A
//! source whose items are all in memory needs no thread.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tonnage_engine::sync::lock;
use tonnage_engine::{Error, Result};

use crate::read::ReadControl;
use crate::read::control::CHECK_INTERVAL;
use crate::read::dispatch::next_of;

/// For how long nothing comes before what was gathered is handed over.
const PAUSE: Duration = Duration::from_micros(500);
/// The same for keys that a caller pushes: what was pushed together is there already.
const PUSHED_PAUSE: Duration = Duration::from_micros(50);
/// The same for a source that has brought keys for long.
const PAUSE_LONGEST: Duration = Duration::from_millis(50);
/// How long what comes one by one is left to gather in the queue: waking a thread for each item
/// costs more than the item.
const GATHER_WAIT: Duration = Duration::from_micros(100);
/// Items that wait in the queue of a source of single keys.
pub(crate) const SINGLE_ITEMS_MAX: usize = 1_024;
/// Batches that wait in the queue of a source of batches.
pub(crate) const BATCHES_MAX: usize = 2;

/// What a look at a source gives.
pub(crate) enum SourcePoll<T> {
    /// The next item.
    Item(T),
    /// Nothing now.
    Nothing,
    /// The source has ended.
    End,
}

impl<T> SourcePoll<T> {
    pub(crate) fn map<U>(self, of: impl FnOnce(T) -> U) -> SourcePoll<U> {
        match self {
            SourcePoll::Item(item) => SourcePoll::Item(of(item)),
            nothing => nothing.without_item(),
        }
    }

    /// The same of something that is not an item.
    pub(crate) fn without_item<U>(&self) -> SourcePoll<U> {
        if matches!(self, SourcePoll::Nothing) { SourcePoll::Nothing } else { SourcePoll::End }
    }
}

impl<T> From<Option<T>> for SourcePoll<T> {
    fn from(next: Option<T>) -> Self {
        next.map_or(SourcePoll::End, SourcePoll::Item)
    }
}

/// For how long an item is waited for.
#[derive(Clone, Copy)]
pub(crate) enum WaitLimit {
    Endless,
    /// As long again as it took since then, with a short minimum: a source that brought much, and
    /// lacks the processor now, brings more, while one that waits for answers does not.
    Since(Option<Instant>),
}

impl WaitLimit {
    pub(crate) const MOMENT: Self = Self::Since(None);

    fn longest(self, moment: Duration) -> Option<Duration> {
        match self {
            Self::Endless => None,
            Self::Since(None) => Some(moment),
            Self::Since(Some(since)) => Some(since.elapsed().clamp(moment, PAUSE_LONGEST)),
        }
    }
}

/// A caller's source, drawn from here or by a thread of its own.
pub(crate) struct ItemSource<T> {
    draws: SourceState<T>,
    is_at_hand: bool,
    items_max: usize,
    /// For how long nothing comes before what was gathered is handed over.
    pause: Duration,
    /// What one item counts towards `items_max`.
    weight: fn(&T) -> usize,
    /// What may end the read that it is drawn for.
    control: Option<Arc<ReadControl>>,
}

/// The caller's own iterator.
pub(crate) type ItemIterator<T> = Box<dyn Iterator<Item = Result<T>> + Send>;

enum SourceState<T> {
    Inline(ItemIterator<T>),
    /// Several iterators, one after another until they are drawn from side by side.
    Several(VecDeque<ItemIterator<T>>),
    Detached {
        queue: Arc<SourceQueue<T>>,
        taken: VecDeque<Result<T>>,
    },
}

impl<T: Send + 'static> ItemSource<T> {
    /// A source whose queue holds so many items at most.
    pub(crate) fn new<I>(items: I, items_max: usize) -> Self
    where
        I: Iterator<Item = Result<T>> + Send + 'static,
    {
        Self::of(SourceState::Inline(Box::new(items)), items_max)
    }

    fn of(draws: SourceState<T>, items_max: usize) -> Self {
        let weight = |_: &T| 1;
        Self { draws, is_at_hand: false, items_max, pause: PAUSE, weight, control: None }
    }

    /// Several sources that are drawn from side by side, each by a thread of its own, once they
    /// are detached.
    pub(crate) fn several(items: VecDeque<ItemIterator<T>>, items_max: usize) -> Self {
        Self::of(SourceState::Several(items), items_max)
    }

    /// A source that is pushed into.
    pub(crate) fn pushed(items_max: usize) -> (SourceSender<T>, Self) {
        let queue = Arc::new(SourceQueue::new(items_max, 1, |_| 1));
        let detached = SourceState::Detached { queue: queue.clone(), taken: VecDeque::new() };
        let mut source = Self::of(detached, items_max);
        source.pause = PUSHED_PAUSE;
        (SourceSender(queue), source)
    }

    /// The same, where items differ in what they take.
    pub(crate) fn with_weight(mut self, weight: fn(&T) -> usize) -> Self {
        self.weight = weight;
        self
    }

    /// Threads that wait for an item check this.
    pub(crate) fn watch(&mut self, control: &Arc<ReadControl>) {
        self.control = Some(control.clone());
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
            SourceState::Inline(items) => items.size_hint(),
            SourceState::Several(all) if all.is_empty() => (0, Some(0)),
            SourceState::Several(_) => (0, None),
            SourceState::Detached { queue, taken } => {
                let state = queue.lock();
                let here = taken.len() + state.items.len();
                let (least, most) = if state.has_ended { (0, Some(0)) } else { state.hint };
                (least.saturating_add(here), most.map(|most| most.saturating_add(here)))
            }
        }
    }

    /// Lets a thread of its own draw from now on, where drawing may wait. Where fewer threads can
    /// be had than there are iterators each draws one after another; without any thread it
    /// continues here.
    pub(crate) fn detach(&mut self) {
        if self.is_at_hand() {
            return;
        }
        if let SourceState::Detached { .. } = self.draws {
            return;
        }
        // Asked before the iterators move to their threads: afterwards only these can ask them.
        let hint = self.size_hint();
        let drawn = match std::mem::replace(&mut self.draws, SourceState::Several(VecDeque::new()))
        {
            SourceState::Inline(items) => VecDeque::from([items]),
            SourceState::Several(all) => all,
            SourceState::Detached { .. } => unreachable!("just seen"),
        };
        let count = drawn.len();
        // The queue counts iterators, not threads: it ends with the last of them, on whichever
        // thread.
        let queue = Arc::new(SourceQueue::new(self.items_max, count, self.weight));
        queue.lock().hint = hint;
        let left = Arc::new(Mutex::new(drawn));
        let start = |_| {
            let (queue, left) = (queue.clone(), left.clone());
            let fill = move || {
                while let Some(items) = next_iterator(&left) {
                    // The hint of one iterator says nothing of the others, so only a single one
                    // passes it on.
                    queue.fill(items, count == 1);
                }
            };
            std::thread::Builder::new().spawn(fill).is_ok()
        };
        self.draws = match (0..count).map(start).take_while(|is_started| *is_started).count() {
            0 => SourceState::Several(std::iter::from_fn(|| next_iterator(&left)).collect()),
            _ => SourceState::Detached { queue, taken: VecDeque::new() },
        };
    }

    /// The next item; waits for it.
    pub(crate) fn next(&mut self) -> Result<Option<T>> {
        match self.draw(WaitLimit::Endless) {
            Ok(SourcePoll::Item(item)) => Ok(Some(item)),
            Ok(_) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The next item, unless none comes for so long.
    pub(crate) fn next_within(&mut self, patience: WaitLimit) -> Result<SourcePoll<T>> {
        self.draw(patience)
    }

    fn draw(&mut self, patience: WaitLimit) -> Result<SourcePoll<T>> {
        let next = match &mut self.draws {
            SourceState::Inline(items) => next_of(items).transpose(),
            SourceState::Several(all) => loop {
                let Some(items) = all.front_mut() else { break None };
                if let Some(next) = next_of(items).transpose() {
                    break Some(next);
                }
                all.pop_front();
            },
            SourceState::Detached { queue, taken } => {
                if taken.is_empty() {
                    let longest = patience.longest(self.pause);
                    if !queue.take(taken, longest, self.control.as_deref())? {
                        return Ok(SourcePoll::Nothing);
                    }
                }
                taken.pop_front()
            }
        };
        next.map_or(Ok(SourcePoll::End), |item| item.map(SourcePoll::Item))
    }
}

/// The next of some iterators that no thread draws from yet.
fn next_iterator<T>(left: &Mutex<VecDeque<ItemIterator<T>>>) -> Option<ItemIterator<T>> {
    lock(left).pop_front()
}

impl<T> Drop for ItemSource<T> {
    fn drop(&mut self) {
        if let SourceState::Detached { queue, .. } = &self.draws {
            queue.lock().is_unwanted = true;
            queue.has_room.notify_all();
        }
    }
}

/// Items on their way from the thread that draws them.
struct SourceQueue<T> {
    state: Mutex<QueueState<T>>,
    items_max: usize,
    weight: fn(&T) -> usize,
    has_items: Condvar,
    has_room: Condvar,
}

struct QueueState<T> {
    items: VecDeque<Result<T>>,
    /// What they count together.
    weight: usize,
    /// How many still put items in.
    fillers: usize,
    /// How many are still in the source, as it says itself.
    hint: (usize, Option<usize>),
    has_ended: bool,
    /// No reader draws any more.
    is_unwanted: bool,
    /// How many items are waited for.
    waited_for: usize,
}

impl<T> SourceQueue<T> {
    fn new(items_max: usize, fillers: usize, weight: fn(&T) -> usize) -> Self {
        let state = QueueState {
            items: VecDeque::new(),
            weight: 0,
            fillers,
            hint: (0, None),
            has_ended: fillers == 0,
            is_unwanted: false,
            waited_for: usize::MAX,
        };
        Self {
            state: Mutex::new(state),
            items_max,
            weight,
            has_items: Condvar::new(),
            has_room: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState<T>> {
        lock(&self.state)
    }

    /// Draws until the source ends or fails, or no reader wants more.
    fn fill(&self, mut items: ItemIterator<T>, is_alone: bool) {
        loop {
            let next = next_of(&mut items).transpose();
            let hint = items.size_hint();
            let mut state = self.wait_for_room();
            if state.is_over() {
                return;
            }
            if is_alone {
                state.hint = hint;
            }
            match next {
                Some(Ok(item)) => self.put(state, item),
                Some(Err(error)) => {
                    state.items.push_back(Err(error));
                    return self.end(state);
                }
                None => return self.remove_filler(state),
            }
        }
    }

    /// Waits until there is room, or no reader wants more.
    fn wait_for_room(&self) -> MutexGuard<'_, QueueState<T>> {
        let mut state = self.lock();
        while state.weight >= self.items_max && !state.is_over() {
            state = self.has_room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state
    }

    fn put(&self, mut state: MutexGuard<'_, QueueState<T>>, item: T) {
        state.weight += (self.weight)(&item);
        state.items.push_back(Ok(item));
        if state.weight >= state.waited_for {
            self.has_items.notify_one();
        }
    }

    /// One who put items in has no more.
    fn remove_filler(&self, mut state: MutexGuard<'_, QueueState<T>>) {
        state.fillers = state.fillers.saturating_sub(1);
        if state.fillers == 0 {
            self.end(state);
        }
    }

    fn end(&self, mut state: MutexGuard<'_, QueueState<T>>) {
        state.has_ended = true;
        self.has_items.notify_one();
        self.has_room.notify_all();
    }

    /// Takes all items that are there, or come within some time; false when there are none, and
    /// more may come.
    ///
    /// # Errors
    /// What ended the read meanwhile.
    fn take(
        &self,
        taken: &mut VecDeque<Result<T>>,
        longest: Option<Duration>,
        control: Option<&ReadControl>,
    ) -> Result<bool> {
        let mut state = self.lock();
        let since = Instant::now();
        while state.items.is_empty() && !state.has_ended {
            state = match longest {
                // The first item wakes an idle thread.
                None => {
                    if let Some(control) = control {
                        control.check_open()?;
                    }
                    state.waited_for = 1;
                    let waited = self.has_items.wait_timeout(state, CHECK_INTERVAL);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                Some(longest) if since.elapsed() >= longest => return Ok(false),
                Some(longest) => {
                    state.waited_for = self.items_max / 2;
                    let waited = self.has_items.wait_timeout(state, GATHER_WAIT.min(longest));
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        // No thread waits from here on, so those that add items need not wake one.
        state.waited_for = usize::MAX;
        if state.weight >= self.items_max {
            self.has_room.notify_all();
        }
        state.weight = 0;
        std::mem::swap(&mut state.items, taken);
        Ok(true)
    }
}

impl<T> QueueState<T> {
    /// Whether nothing more is taken in.
    fn is_over(&self) -> bool {
        self.is_unwanted || self.has_ended
    }
}

/// The end of a source that items are pushed into. The source ends with the last of them.
pub(crate) struct SourceSender<T>(Arc<SourceQueue<T>>);

impl<T> SourceSender<T> {
    /// Waits for room, then hands an item over.
    ///
    /// # Errors
    /// `Cancelled` when no reader draws any more.
    pub(crate) fn push(&self, item: T) -> Result<()> {
        let state = self.0.wait_for_room();
        if state.is_over() {
            return Err(unwanted_error());
        }
        self.0.put(state, item);
        Ok(())
    }

    /// The same, unless there is no room: then the item comes back.
    pub(crate) fn try_push(&self, item: T) -> Result<Option<T>> {
        let state = self.0.lock();
        if state.is_over() {
            return Err(unwanted_error());
        }
        if state.weight >= self.0.items_max {
            return Ok(Some(item));
        }
        self.0.put(state, item);
        Ok(None)
    }
}

#[cold]
fn unwanted_error() -> Error {
    Error::cancelled("no reader takes keys any more: the read that they were for has ended")
}

impl<T> Clone for SourceSender<T> {
    fn clone(&self) -> Self {
        self.0.lock().fillers += 1;
        Self(self.0.clone())
    }
}

impl<T> Drop for SourceSender<T> {
    fn drop(&mut self) {
        self.0.remove_filler(self.0.lock());
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A source that was not given the processor for a millisecond had its keys read in small lots,
    /// each of which passes over the whole store: 20 M keys took twice the time.
    #[test]
    fn a_source_that_brought_keys_for_long_may_pause_for_as_long() {
        let moment = Duration::from_micros(500);
        let after = |ms: u64| {
            let since = Instant::now().checked_sub(Duration::from_millis(ms));
            WaitLimit::Since(Some(since.unwrap())).longest(moment).unwrap()
        };
        // A busy machine may stand still between the two looks at the clock.
        assert!((moment..=Duration::from_millis(50)).contains(&after(0)));
        assert!((20..=50).contains(&after(20).as_millis()));
        assert_eq!(after(1_000), Duration::from_millis(50));
        assert_eq!(WaitLimit::MOMENT.longest(moment), Some(moment));
        assert_eq!(WaitLimit::Endless.longest(moment), None);
    }
}
