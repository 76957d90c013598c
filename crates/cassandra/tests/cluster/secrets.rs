//! Certificates and passwords of nodes and their clients, from `openssl` and `keytool`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What opens the key stores. Java takes no shorter one.
const STORE_PASSWORD: &str = "secret";

/// The certificates of nodes and of a client, which one authority signs.
pub(crate) struct Secrets {
    folder: PathBuf,
}

impl Secrets {
    /// Makes them for the nodes of a network.
    pub(super) fn make(folder: &Path, network: u8) -> Self {
        fs::create_dir_all(folder).expect("a folder for certificates");
        let secrets = Self { folder: folder.to_owned() };
        let names: Vec<String> = (1..=8).map(|node| format!("IP:127.0.{network}.{node}")).collect();
        let extensions = format!("basicConstraints=CA:FALSE\nsubjectAltName={}\n", names.join(","));
        fs::write(secrets.file("extensions"), extensions).expect("the names of nodes");
        secrets.authority("ca");
        secrets.authority("stranger");
        secrets.certificate("node");
        secrets.certificate("client");
        let password = format!("pass:{STORE_PASSWORD}");
        secrets.run(
            "openssl",
            &format!(
                "pkcs12 -export -in node.pem -inkey node.key -name node -out node.p12 -passout {password}"
            ),
        );
        secrets.run(
            "keytool",
            &format!(
                "-importcert -noprompt -alias ca -file ca.pem -keystore trusted.p12 -storetype PKCS12 -storepass {STORE_PASSWORD}"
            ),
        );
        secrets
    }

    /// A file among them: `ca.pem`, `stranger.pem`, `client.pem`, `client.key`.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The settings of a node that uses them.
    pub(super) fn settings(&self) -> String {
        let folder = self.folder.display();
        format!(
            r#"authenticator: PasswordAuthenticator
authorizer: CassandraAuthorizer
client_encryption_options:
  enabled: true
  optional: false
  keystore: {folder}/node.p12
  keystore_password: {STORE_PASSWORD}
  require_client_auth: true
  truststore: {folder}/trusted.p12
  truststore_password: {STORE_PASSWORD}
  store_type: PKCS12
"#
        )
    }

    /// An authority that signs certificates.
    fn authority(&self, name: &str) {
        self.run(
            "openssl",
            &format!(
                "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj /CN={name} -keyout {name}.key -out {name}.pem"
            ),
        );
    }

    /// A certificate that the authority signs.
    fn certificate(&self, name: &str) {
        self.run(
            "openssl",
            &format!(
                "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN={name} -keyout {name}.key -out {name}.csr"
            ),
        );
        self.run(
            "openssl",
            &format!(
                "x509 -req -in {name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 3650 -extfile extensions -out {name}.pem"
            ),
        );
    }

    fn run(&self, program: &str, arguments: &str) {
        let answer = Command::new(program)
            .args(arguments.split(' '))
            .current_dir(&self.folder)
            .output()
            .unwrap_or_else(|error| panic!("{program} cannot be run: {error}"));
        let words = String::from_utf8_lossy(&answer.stderr);
        assert!(answer.status.success(), "{program} {arguments}: {words}");
    }
}
