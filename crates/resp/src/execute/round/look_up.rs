//! Finds the parts of each key, and what is stored of it.

use std::ops::Range;

use tonnage::Result;

use super::super::part::{KeyState, StoredBase};
use super::super::texts::Text;
use super::{KEPT_BYTES_MAX, KeyChain, Round, RoundFailure, bytes_max};
use crate::client::Client;
use crate::keyspace::Keyspace;

impl Round {
    /// Sorts parts by their keys, and makes chains of them.
    pub(super) fn link(&mut self, clients: &[Box<Client>], parts: Range<usize>) {
        let Self { parts: all, order, chains, .. } = self;
        let key = |part: u32| {
            let key = all[part as usize].key;
            key.span.of(&clients[key.client as usize].input)
        };
        order.clear();
        order.extend(parts.start as u32..parts.end as u32);
        // The number of a part decides among those of one key: they stay in their order.
        order.sort_unstable_by(|one, other| key(*one).cmp(key(*other)).then(one.cmp(other)));
        chains.clear();
        let mut start = 0;
        for end in 1..=order.len() {
            if end == order.len() || key(order[end]) != key(order[start]) {
                let state = KeyState::UNKNOWN;
                chains.push(KeyChain { start: start as u32, end: end as u32, state });
                start = end;
            }
        }
    }

    pub(super) fn key_of<'c>(&self, chain: usize, clients: &'c [Box<Client>]) -> &'c [u8] {
        let key = self.parts[self.order[self.chains[chain].start as usize] as usize].key;
        key.span.of(&clients[key.client as usize].input)
    }

    /// Looks up the keys of the chains that depend on what is stored.
    pub(super) fn look_up(
        &mut self,
        keyspace: &Keyspace,
        clients: &[Box<Client>],
    ) -> std::result::Result<(), RoundFailure> {
        for chain in 0..self.chains.len() {
            let first = self.order[self.chains[chain].start as usize] as usize;
            // A blind SET decides what follows it, whatever is stored.
            if !self.parts[first].action.is_blind() {
                let key = self.key_of(chain, clients);
                self.keys.push_parts(&[key], &[], b"").map_err(RoundFailure::Store)?;
                self.asked.push(chain as u32);
            }
        }
        if self.asked.is_empty() {
            return Ok(());
        }
        let looked_up = keyspace
            .session
            .get_many(&self.keys, 0, bytes_max(clients), &mut self.found)
            .map_err(RoundFailure::Store)?;
        if looked_up < self.asked.len() {
            return Err(RoundFailure::TooLarge);
        }
        // What is not found is absent.
        for chain in &self.asked {
            self.chains[*chain as usize].state.base = StoredBase::Absent;
        }
        for row in 0..self.found.len() {
            let state = &mut self.chains[self.asked[self.found.origin(row)] as usize].state;
            state.base = StoredBase::Version(self.found.version(row));
            state.value = Some(Text::Found(row as u32));
            state.expires_at_ms = self.found.expires_at_ms(row);
        }
        Ok(())
    }

    /// The same for chains that were refused. Their values are copied: answers of other chains
    /// still show those that were found before.
    pub(super) fn look_up_again(
        &mut self,
        keyspace: &Keyspace,
        clients: &[Box<Client>],
        refused: &[u32],
    ) -> Result<()> {
        self.keys.clear();
        for chain in refused {
            let key = self.key_of(*chain as usize, clients);
            self.keys.push_parts(&[key], &[], b"")?;
        }
        // Piece by piece, so that the copies are all that this adds.
        let mut first = 0;
        while first < refused.len() {
            let found = &mut self.found_again;
            let looked_up = keyspace.session.get_many(&self.keys, first, KEPT_BYTES_MAX, found)?;
            for chain in &refused[first..first + looked_up] {
                // What the try before left is forgotten.
                let state = KeyState { base: StoredBase::Absent, ..KeyState::UNKNOWN };
                self.chains[*chain as usize].state = state;
            }
            for row in 0..found.len() {
                let state = &mut self.chains[refused[found.origin(row)] as usize].state;
                let start = self.computed.len();
                self.computed.extend_from_slice(found.value(row));
                state.base = StoredBase::Version(found.version(row));
                state.value = Some(Text::Computed { start, end: self.computed.len() });
                state.expires_at_ms = found.expires_at_ms(row);
            }
            first += looked_up;
        }
        Ok(())
    }
}
