package oracle.kv;

/** An outcome that a program must expect. */
public class ContingencyException extends Exception {
    private static final long serialVersionUID = 1L;

    ContingencyException(String msg) {
        super(msg);
    }

    /** For the exceptions of tables. */
    protected ContingencyException(String msg, Throwable cause) {
        super(msg, cause);
    }
}
