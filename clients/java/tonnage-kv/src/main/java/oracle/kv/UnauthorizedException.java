package oracle.kv;

/** The caller lacks a right. */
public class UnauthorizedException extends KVSecurityException {
    private static final long serialVersionUID = 1L;

    /** An error with these words. */
    public UnauthorizedException(String msg) {
        super(msg);
    }

    /** An error with these words, and what caused it. */
    public UnauthorizedException(String msg, Throwable cause) {
        super(msg, cause);
    }
}
