package dev.tonnage.client;

import java.util.Locale;

/**
 * What the server refused, or what kept a call from the server. The kind says what to do; the
 * message names the position and the remedy.
 */
public class TonnageException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** What a caller can do about an error. */
    public enum Kind {
        /** Change the request. */
        INVALID_REQUEST,
        /** The server asks who calls, or does not know the caller. */
        NOT_LOGGED_IN,
        /** The caller lacks a right. */
        NOT_ALLOWED,
        /** The table, row or object does not exist. */
        NOT_FOUND,
        /** Something else exists or runs: read again, and decide. */
        CONFLICT,
        /** Ask again later. */
        UNAVAILABLE,
        /** The caller, or an operator, called it off. */
        CANCELLED,
        /** The time that the call had is over. */
        TIMED_OUT,
        /** A limit of the server is reached. */
        EXHAUSTED,
        /** Stored data is damaged. */
        CORRUPTION,
        /** The server does not offer that. */
        UNSUPPORTED,
        /** A fault of the server. */
        INTERNAL_ERROR,
        /** More entries of a load failed than it allows. */
        TOO_MANY_ERRORS,
        /** The connection could not be made, or was lost. */
        CONNECTION_LOST;

        static Kind of(String label) {
            String name = label.toUpperCase(Locale.ROOT).replace(' ', '_').replace('-', '_');
            for (Kind kind : values()) {
                if (kind.name().equals(name)) {
                    return kind;
                }
            }
            switch (name) {
                case "INVALID":
                case "TOO_LARGE":
                case "UNKNOWN_HOST":
                    return INVALID_REQUEST;
                default:
                    return INTERNAL_ERROR;
            }
        }
    }

    private final Kind kind;
    private final int status;
    private final String code;
    private final String requestId;

    /** An error of this side. */
    public TonnageException(Kind kind, String message) {
        this(kind, 0, null, null, message, null);
    }

    /** An error of this side, and what caused it. */
    public TonnageException(Kind kind, String message, Throwable cause) {
        this(kind, 0, null, null, message, cause);
    }

    TonnageException(Kind kind, int status, String code, String requestId, String message,
            Throwable cause) {
        super(message, cause);
        this.kind = kind;
        this.status = status;
        this.code = code;
        this.requestId = requestId;
    }

    /** What can be done about it. */
    public Kind kind() {
        return kind;
    }

    /** The status of HTTP; 0 where the error is of this side, or came behind the first answer. */
    public int status() {
        return status;
    }

    /** Which error of its kind it is, of those that programs tell apart; null for most. */
    public String code() {
        return code;
    }

    /** The name of the request in the log of the server; null where there was no answer. */
    public String requestId() {
        return requestId;
    }
}
