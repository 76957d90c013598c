//! Client sessions: options for all statements of a session. A cookie names the session.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tonnage::internal::sync::lock;
use tonnage::{Error, Result};

use crate::random::random_name;

/// The cookie of a session, as Flight's own servers call it.
pub(crate) const SESSION_COOKIE: &str = "arrow_flight_session_id";

const IDLE_MAX: Duration = Duration::from_secs(3_600);
const SESSIONS_MAX: usize = 10_000;

/// What a session says of its statements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SessionOptions {
    /// The longest that each statement may take.
    pub(crate) timeout: Option<Duration>,
}

/// All sessions.
#[derive(Default)]
pub(crate) struct Sessions {
    sessions: Mutex<HashMap<String, (SessionOptions, Instant)>>,
}

impl Sessions {
    /// The options of a session; the defaults where there is none.
    pub(crate) fn options(&self, id: Option<&str>) -> SessionOptions {
        let mut known = self.sessions();
        let found = id.and_then(|id| known.get_mut(id));
        found.map_or_else(SessionOptions::default, |(options, used)| {
            *used = Instant::now();
            options.clone()
        })
    }

    /// Sets the options of a session; a new one is named where there is none.
    ///
    /// # Errors
    /// `Exhausted` when there are too many sessions.
    pub(crate) fn set(&self, id: Option<&str>, options: SessionOptions) -> Result<String> {
        let mut known = self.sessions();
        let id = match id.filter(|id| known.contains_key(*id)) {
            Some(id) => id.to_owned(),
            None => random_name()?,
        };
        if known.len() >= SESSIONS_MAX {
            known.retain(|_, (_, used)| used.elapsed() < IDLE_MAX);
        }
        if known.len() >= SESSIONS_MAX && !known.contains_key(&id) {
            return Err(Error::exhausted(format!("{SESSIONS_MAX} sessions are open: close some")));
        }
        known.insert(id.clone(), (options, Instant::now()));
        Ok(id)
    }

    /// Ends a session. False when there was none.
    pub(crate) fn close(&self, id: Option<&str>) -> bool {
        id.is_some_and(|id| self.sessions().remove(id).is_some())
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<String, (SessionOptions, Instant)>> {
        lock(&self.sessions)
    }
}

/// The session that cookies name, if they do.
pub(crate) fn session_of(cookies: &str) -> Option<&str> {
    cookies.split(';').find_map(|cookie| {
        let (name, value) = cookie.trim().split_once('=')?;
        (name == SESSION_COOKIE).then(|| value.trim_matches('"'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cookie_of_a_session_is_found_among_others() {
        assert_eq!(session_of("a=b; arrow_flight_session_id=\"x1\"; c=d"), Some("x1"));
        assert_eq!(session_of("a=b"), None);
    }

    #[test]
    fn a_name_that_the_server_did_not_give_opens_another_session() {
        let sessions = Sessions::default();
        let id = sessions.set(Some("mine"), SessionOptions::default()).unwrap();
        assert_ne!(id, "mine");
        let options = SessionOptions { timeout: Some(Duration::from_secs(5)) };
        assert_eq!(sessions.set(Some(&id), options.clone()).unwrap(), id);
        assert_eq!(sessions.options(Some(&id)), options);
        assert!(sessions.close(Some(&id)) && !sessions.close(Some(&id)));
    }
}
