//! Logins: find out who makes a call, and verify it.
//!
//! The blocking pool verifies at most two passwords at a time. Clients send the password with each
//! call, so the server remembers a right one for ten minutes, by a keyed digest. It answers a wrong
//! one late.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, header};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value as Json;
use tokio::sync::Semaphore;
use tonnage::internal::sync::{lock, read, write};
use tonnage::{Error, Result};

use super::audit::Audit;
use super::caller::Caller;
use super::digest::sha256;
use super::login_cookie;
use super::password::{HASH_OF_NOBODY, is_right_password};
use super::rights::Rights;
use super::users::{User, Users};
use crate::random::random_name;
use crate::request_id::RequestId;

const REMEMBERED: Duration = Duration::from_secs(600);
const REMEMBERED_MAX: usize = 10_000;
/// A token ends when it was not used for so long,
pub(crate) const TOKEN_IDLE_MAX: Duration = Duration::from_secs(3_600);
/// and after this time in any case.
const TOKEN_AGE_MAX: Duration = Duration::from_secs(12 * 3_600);
const VERIFIED_AT_ONCE: usize = 2;
/// Who logs in with a password alone.
const DEFAULT_USER: &str = "default";
const LATE_MIN: Duration = Duration::from_millis(100);
const LATE_MAX: Duration = Duration::from_secs(10);

/// The certificate that a client showed, as TLS has it.
#[derive(Clone, Debug)]
pub(crate) struct PeerCertificate(pub(crate) Arc<[u8]>);

/// Who is logged in.
pub(crate) struct Logins {
    users: Option<RwLock<Arc<Users>>>,
    audit: Option<Arc<Audit>>,
    key: String,
    verifying: Semaphore,
    /// How often the users were replaced: connections that stay logged in look again then.
    generation: AtomicU64,
    cache: Mutex<LoginCache>,
}

#[derive(Default)]
struct LoginCache {
    /// Passwords that were right, by a digest that only this process can make.
    passwords: HashMap<String, Instant>,
    tokens: HashMap<String, SessionToken>,
    failures: HashMap<String, u32>,
}

struct SessionToken {
    user: Arc<User>,
    made: Instant,
    used: Instant,
}

impl Logins {
    pub(crate) fn new(users: Option<Users>, audit: Option<Audit>) -> Result<Logins> {
        Ok(Logins {
            users: users.map(|users| RwLock::new(Arc::new(users))),
            audit: audit.map(Arc::new),
            key: random_name()?,
            verifying: Semaphore::new(VERIFIED_AT_ONCE),
            generation: AtomicU64::new(0),
            cache: Mutex::default(),
        })
    }

    /// These are the users from now on. A caller that is no user any more, or has lost a password,
    /// a token or a certificate, is logged out; passwords are verified again.
    pub(crate) fn replace(&self, users: Users) {
        let Some(known) = &self.users else { return };
        let users = Arc::new(users);
        *write(known) = users.clone();
        let mut known = self.cache();
        known.passwords.clear();
        known.tokens.retain(|_, token| match users.named(&token.user.name) {
            Some(user) if user.keeps_credentials_of(&token.user) => {
                token.user = user;
                true
            }
            _ => false,
        });
        drop(known);
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// All users as a list; none where there is no file of users. With a table also what each may
    /// do there.
    pub(crate) fn users_json(&self, table: Option<&str>) -> Json {
        self.users().map_or_else(|| Json::Array(Vec::new()), |users| users.list_json(table))
    }

    /// Changes whenever the users are replaced.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Whether callers have to say who they are, or what they do is noted.
    pub(crate) fn is_guarded(&self) -> bool {
        self.users.is_some() || self.audit.is_some()
    }

    /// The caller that everybody is where there are no users.
    pub(crate) fn anybody(&self) -> Option<Caller> {
        self.users.is_none().then(|| self.caller_of(None))
    }

    /// The caller of a connection that logs in once, by the password or a token of a user. A token
    /// needs no name.
    ///
    /// # Errors
    /// As [`Logins::caller`].
    pub(crate) async fn named_caller(&self, name: Option<&str>, secret: &str) -> Result<Caller> {
        let Some(users) = &self.users() else { return Ok(self.caller_of(None)) };
        let of_token = self.user_of_token(secret).or_else(|| users.of_token(secret));
        let of_token = of_token.filter(|user| name.is_none_or(|name| name == user.name));
        let user = match of_token {
            Some(user) => user,
            None => self.with_password(users, name.unwrap_or(DEFAULT_USER), secret).await?,
        };
        Ok(self.caller_of(Some(user)))
    }

    /// The caller who showed a certificate of a user.
    pub(crate) fn certified_caller(&self, shown: &PeerCertificate) -> Option<Caller> {
        let user = self.users()?.of_certificate(&shown.0)?;
        Some(self.caller_of(Some(user)))
    }

    /// A caller who logged in before, with the current rights; none where the user or a credential
    /// is gone.
    pub(crate) fn renewed(&self, caller: &Caller) -> Option<Caller> {
        let (before, users) = caller.logged_in_user().zip(self.users())?;
        let user = users.named(&before.name).filter(|user| user.keeps_credentials_of(before))?;
        Some(self.caller_of(Some(user)))
    }

    fn caller_of(&self, user: Option<Arc<User>>) -> Caller {
        let rights = user.as_ref().map_or_else(Rights::all, |user| user.rights.clone());
        Caller::new(user, rights, self.audit.clone(), &HeaderMap::new())
    }

    fn users(&self) -> Option<Arc<Users>> {
        let users = self.users.as_ref()?;
        Some(read(users).clone())
    }

    /// The caller whose headers these are.
    ///
    /// # Errors
    /// `Invalid` for wrong or missing credentials.
    pub(crate) async fn caller(
        &self,
        headers: &HeaderMap,
        certificate: Option<&PeerCertificate>,
    ) -> Result<Caller> {
        let Some(users) = &self.users() else {
            return Ok(Caller::new(None, Rights::all(), self.audit.clone(), headers));
        };
        let user = match headers.get(header::AUTHORIZATION) {
            Some(said) => self.authorized(users, said.to_str().unwrap_or_default()).await?,
            None => {
                let of_cookie = login_cookie::token_of(headers);
                let of_cookie = of_cookie.and_then(|token| self.user_of_token(token));
                let certified = || users.of_certificate(&certificate?.0);
                of_cookie.or_else(certified).ok_or_else(|| {
                    Error::invalid("say who you are: user and password, a token, or a certificate")
                })?
            }
        };
        let rights = user.rights.clone();
        Ok(Caller::new(Some(user), rights, self.audit.clone(), headers))
    }

    async fn authorized(&self, users: &Arc<Users>, said: &str) -> Result<Arc<User>> {
        let (scheme, rest) = said.split_once(' ').unwrap_or((said, ""));
        if scheme.eq_ignore_ascii_case("bearer") {
            let found = self.user_of_token(rest.trim()).or_else(|| users.of_token(rest.trim()));
            return match found {
                Some(user) => Ok(user),
                None => Err(self.delayed_refusal("token").await?),
            };
        }
        if !scheme.eq_ignore_ascii_case("basic") {
            return Err(Error::invalid("Authorization is neither Basic nor Bearer"));
        }
        let decoded = BASE64_STANDARD.decode(rest.trim()).ok();
        let text = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
        // A password may have a colon.
        let pair = text.as_deref().and_then(|text| text.split_once(':'));
        let Some((name, password)) = pair else {
            return Err(Error::invalid("Authorization: Basic is not user:password in base64"));
        };
        self.with_password(users, name, password).await
    }

    async fn with_password(
        &self,
        users: &Arc<Users>,
        name: &str,
        password: &str,
    ) -> Result<Arc<User>> {
        let user = users.named(name);
        let digest = sha256(format!("{}\0{name}\0{password}", self.key).as_bytes());
        // argon2 takes 19 MiB and much time, and clients send the password with each call.
        if let Some(user) = &user
            && self.is_remembered(&digest)
        {
            return Ok(user.clone());
        }
        let hash = user.as_ref().and_then(|user| user.password.clone());
        let has_password = hash.is_some();
        // A name without a password is verified all the same, in its turn: the time of a refusal
        // tells no names either.
        let hash = hash.unwrap_or_else(|| HASH_OF_NOBODY.to_owned());
        let is_right = {
            let _turn = self.verifying.acquire().await;
            let password = password.to_owned();
            let verified = tokio::task::spawn_blocking(move || is_right_password(&password, &hash));
            verified.await.unwrap_or(false)
        };
        match user {
            Some(user) if has_password && is_right => {
                self.remember(users, digest, name);
                self.audit_login(name, true)?;
                Ok(user)
            }
            // An unknown name gets the answer of a wrong password, which tells no names.
            _ => Err(self.delayed_refusal(name).await?),
        }
    }

    /// Answers a failure, the later the more of them there were.
    async fn delayed_refusal(&self, name: &str) -> Result<Error> {
        self.audit_login(name, false)?;
        let count = {
            let mut known = self.cache();
            if known.failures.len() >= REMEMBERED_MAX {
                known.failures.clear();
            }
            let count = known.failures.entry(name.to_owned()).or_default();
            *count += 1;
            *count
        };
        let late = LATE_MIN.saturating_mul(1 << (count - 1).min(10)).min(LATE_MAX);
        tokio::time::sleep(late).await;
        Ok(Error::invalid("user, password or token are not right"))
    }

    /// A token for the caller from now on; nothing where there are no users.
    pub(crate) fn token(&self, caller: &Caller) -> Result<Option<String>> {
        let token = random_name()?;
        // Who changes the users waits, and looks at this token then.
        let mut known = self.cache();
        let Some((before, users)) = caller.logged_in_user().zip(self.users()) else {
            return Ok(None);
        };
        let user = users.named(&before.name).filter(|user| user.keeps_credentials_of(before));
        let user = user.ok_or_else(|| {
            Error::invalid("the users have changed since the call came: log in again")
        })?;
        if known.tokens.len() >= REMEMBERED_MAX {
            known.tokens.retain(|_, token| token.is_valid());
        }
        if known.tokens.len() >= REMEMBERED_MAX {
            return Err(Error::exhausted(format!("{REMEMBERED_MAX} tokens are out: try later")));
        }
        let now = Instant::now();
        known.tokens.insert(token.clone(), SessionToken { user, made: now, used: now });
        Ok(Some(token))
    }

    /// Ends a token before its time.
    pub(crate) fn end(&self, token: &str) {
        self.cache().tokens.remove(token);
    }

    fn user_of_token(&self, token: &str) -> Option<Arc<User>> {
        let mut known = self.cache();
        let found = known.tokens.get_mut(token)?;
        if !found.is_valid() {
            known.tokens.remove(token);
            return None;
        }
        found.used = Instant::now();
        Some(found.user.clone())
    }

    fn is_remembered(&self, digest: &str) -> bool {
        self.cache().passwords.get(digest).is_some_and(|at| at.elapsed() < REMEMBERED)
    }

    /// Remembers a password that was right for these users.
    fn remember(&self, verified: &Arc<Users>, digest: String, name: &str) {
        let mut known = self.cache();
        known.failures.remove(name);
        // The users may have changed while it was verified.
        if !self.users().is_some_and(|users| Arc::ptr_eq(&users, verified)) {
            return;
        }
        if known.passwords.len() >= REMEMBERED_MAX {
            known.passwords.retain(|_, at| at.elapsed() < REMEMBERED);
        }
        if known.passwords.len() < REMEMBERED_MAX {
            known.passwords.insert(digest, Instant::now());
        }
    }

    fn audit_login(&self, name: &str, allowed: bool) -> Result<()> {
        match &self.audit {
            Some(audit) => {
                audit.record(Some(name), "login", "", allowed, RequestId::current().as_ref())
            }
            None => Ok(()),
        }
    }

    fn cache(&self) -> std::sync::MutexGuard<'_, LoginCache> {
        lock(&self.cache)
    }
}

impl SessionToken {
    fn is_valid(&self) -> bool {
        self.used.elapsed() < TOKEN_IDLE_MAX && self.made.elapsed() < TOKEN_AGE_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ann, with a token whose digest has these digits.
    fn users(digits: char) -> Users {
        let digest = digits.to_string().repeat(64);
        Users::parse(&format!("[[user]]\nname = \"ann\"\ntokens = [\"{digest}\"]")).unwrap()
    }

    /// Verifying takes long: the password may be another one by its end.
    #[test]
    fn a_password_of_users_that_were_replaced_is_not_remembered() {
        let logins = Logins::new(Some(users('a')), None).unwrap();
        let verified = logins.users().unwrap();
        logins.remember(&verified, "first".to_owned(), "ann");
        assert!(logins.is_remembered("first"));
        logins.replace(users('b'));
        logins.remember(&verified, "second".to_owned(), "ann");
        assert!(!logins.is_remembered("first") && !logins.is_remembered("second"));
    }

    /// The story of a bug: the refusal of an unknown name came sooner than that of a wrong password,
    /// because nothing was verified.
    #[test]
    fn a_name_without_a_password_is_verified_in_its_turn() {
        let logins = Logins::new(Some(users('a')), None).unwrap();
        let known = logins.users().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let turns = logins.verifying.acquire_many(VERIFIED_AT_ONCE as u32).await.unwrap();
            // Bob is no user, and ann has only a token.
            for name in ["bob", "ann"] {
                let login = logins.with_password(&known, name, "word");
                assert!(tokio::time::timeout(10 * LATE_MIN, login).await.is_err(), "{name}");
            }
            drop(turns);
            for name in ["bob", "ann"] {
                assert!(logins.with_password(&known, name, "word").await.is_err(), "{name}");
            }
        });
    }

    /// Such a token would outlive the credentials that it was given for.
    #[test]
    fn a_call_from_before_a_change_of_credentials_gets_no_token() {
        let logins = Logins::new(Some(users('a')), None).unwrap();
        let user = logins.users().unwrap().named("ann").unwrap();
        let caller = Caller::new(Some(user), Rights::default(), None, &HeaderMap::new());
        let token = logins.token(&caller).unwrap().unwrap();
        logins.replace(users('a'));
        assert!(logins.user_of_token(&token).is_some() && logins.token(&caller).is_ok());
        logins.replace(users('b'));
        assert!(logins.user_of_token(&token).is_none());
        assert!(logins.token(&caller).unwrap_err().message().contains("log in again"));
    }
}
