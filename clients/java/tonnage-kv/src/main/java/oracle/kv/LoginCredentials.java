package oracle.kv;

/** Who logs in. */
public interface LoginCredentials {
    /** The name of the user. */
    String getUsername();
}
