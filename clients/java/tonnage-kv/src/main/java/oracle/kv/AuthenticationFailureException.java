package oracle.kv;

/** The server does not know the caller. */
public class AuthenticationFailureException extends KVSecurityException {
    private static final long serialVersionUID = 1L;

    /** An error with these words. */
    public AuthenticationFailureException(String msg) {
        super(msg);
    }

    /** An error with these words, and what caused it. */
    public AuthenticationFailureException(String msg, Throwable cause) {
        super(msg, cause);
    }
}
