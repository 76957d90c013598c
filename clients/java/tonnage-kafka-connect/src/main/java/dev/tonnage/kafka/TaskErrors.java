package dev.tonnage.kafka;

import dev.tonnage.client.TonnageException;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.errors.RetriableException;

/** What a task does about an error: ask again later, or stop. */
final class TaskErrors {
    private TaskErrors() {
    }

    /** The exception for Connect: a {@link RetriableException} where asking again may help. */
    static ConnectException of(TonnageException error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (cause instanceof ConnectException) {
                return (ConnectException) cause;
            }
        }
        switch (error.kind()) {
            case CONNECTION_LOST:
            case UNAVAILABLE:
            case EXHAUSTED:
            case TIMED_OUT:
                return new RetriableException(error.getMessage(), error);
            default:
                return new ConnectException(error.getMessage(), error);
        }
    }
}
