package dev.tonnage.client.arrow;

/** Bytes that are not an Arrow IPC stream, or values that do not fit their column. */
public final class ArrowException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** An error with these words. */
    public ArrowException(String message) {
        super(message);
    }

    /** An error with these words, and what caused it. */
    public ArrowException(String message, Throwable cause) {
        super(message, cause);
    }
}
