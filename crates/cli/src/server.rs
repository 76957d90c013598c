//! The options to connect to a server, and the credentials.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use tonnage::Error;
use tonnage_client::{ClientOptions, Credentials, RemoteStore};

use crate::exit::{CliResult, Failure};
use crate::interrupt;

/// Where the password is: on the command line other users of the machine would see it.
const PASSWORD_VARIABLE: &str = "TONNAGE_PASSWORD";

/// Options for a store on a server.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Options for a server")]
pub(crate) struct ServerArgs {
    /// The user, whose password is in the variable TONNAGE_PASSWORD
    #[arg(long, global = true, env = "TONNAGE_USER", value_name = "NAME")]
    user: Option<String>,
    /// A file that holds a token, instead of user and password
    #[arg(
        long,
        global = true,
        env = "TONNAGE_TOKEN_FILE",
        value_name = "FILE",
        conflicts_with = "user"
    )]
    token_file: Option<PathBuf>,
    /// Check the server's certificate against those in this file (PEM) [default: the system's]
    #[arg(long, global = true, env = "TONNAGE_TLS_CA", value_name = "FILE")]
    tls_ca: Option<PathBuf>,
    /// The program's own certificate (PEM), for a server that asks for one
    #[arg(long, global = true, value_name = "FILE", requires = "tls_client_key")]
    tls_client_cert: Option<PathBuf>,
    /// The key of that certificate (PEM)
    #[arg(long, global = true, value_name = "FILE", requires = "tls_client_cert")]
    tls_client_key: Option<PathBuf>,
}

impl ServerArgs {
    /// Connects. With a time-out, no call takes longer.
    pub(crate) fn connect(
        &self,
        address: &str,
        timeout: Option<Duration>,
    ) -> CliResult<RemoteStore> {
        Ok(RemoteStore::connect(address, ClientOptions { timeout, ..self.options()? })?)
    }

    /// The options of a connection.
    pub(crate) fn options(&self) -> CliResult<ClientOptions> {
        Ok(ClientOptions {
            credentials: self.credentials()?,
            tls_ca: self.tls_ca.clone(),
            tls_certificate: self.tls_client_cert.clone().zip(self.tls_client_key.clone()),
            cancel: interrupt::cancel(),
            ..ClientOptions::default()
        })
    }

    fn credentials(&self) -> CliResult<Option<Credentials>> {
        match (&self.user, &self.token_file) {
            (Some(user), _) => {
                let password = std::env::var(PASSWORD_VARIABLE).map_err(|_| {
                    Failure::usage(format!(
                        "--user {user}: the password is missing: put it into the variable \
                         {PASSWORD_VARIABLE}, not on the command line"
                    ))
                })?;
                Ok(Some(Credentials::Password { user: user.clone(), password }))
            }
            (None, Some(file)) => Ok(Some(Credentials::Token(token_in(file)?))),
            (None, None) => Ok(None),
        }
    }
}

fn token_in(file: &Path) -> CliResult<String> {
    let text = std::fs::read_to_string(file).map_err(|error| {
        Error::invalid(format!("--token-file {}: cannot be read: {error}", file.display()))
            .with_source(error)
    })?;
    match text.trim() {
        "" => Err(Failure::usage(format!("--token-file {}: it is empty", file.display()))),
        token => Ok(token.to_owned()),
    }
}
