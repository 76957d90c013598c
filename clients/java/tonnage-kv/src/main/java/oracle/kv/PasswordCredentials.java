package oracle.kv;

/** A user with a password. */
public class PasswordCredentials implements LoginCredentials {
    private final String username;
    private final char[] password;

    /** A user with a password. */
    public PasswordCredentials(String username, char[] password) {
        this.username = username;
        this.password = password.clone();
    }

    @Override
    public String getUsername() {
        return username;
    }

    /** The password. */
    public char[] getPassword() {
        return password.clone();
    }
}
