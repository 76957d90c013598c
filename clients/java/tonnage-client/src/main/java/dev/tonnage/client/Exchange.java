package dev.tonnage.client;

import dev.tonnage.client.arrow.ArrowWriter;
import dev.tonnage.client.internal.DuplexCall;
import dev.tonnage.client.internal.Json;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/** A call that streams both ways. Its time limit, and who cancels it, close its connection. */
final class Exchange implements AutoCloseable {
    /** Servers take a stream for dead that is silent for a minute. */
    private static final Duration HEARTBEAT = Duration.ofSeconds(10);

    private final DuplexCall call;
    private final Cancel cancel;
    private final Runnable onCancel;
    private final ScheduledFuture<?> deadline;
    /** Held while a message is sent. */
    private final ReentrantLock sending = new ReentrantLock();
    private ScheduledFuture<?> heartbeat;
    private volatile long sentAt = System.nanoTime();
    private volatile TonnageException why;

    /**
     * Connects, and sends the command.
     *
     * @param cancel may be null
     * @param timeout may be null
     */
    Exchange(Wire wire, Map<String, Object> command, Cancel cancel, Duration timeout) {
        if (cancel != null && cancel.isCancelled()) {
            throw cancelled();
        }
        String target = "/v1/exchange?command=" + Wire.encoded(Json.write(command));
        try {
            call = new DuplexCall(wire.endpoint(), target, Wire.ARROW,
                    "application/x-ndjson, " + Wire.ARROW);
        } catch (IOException error) {
            throw new TonnageException(TonnageException.Kind.CONNECTION_LOST, "the server at "
                    + wire.endpoint().base() + " cannot be reached: " + Wire.reason(error), error);
        }
        this.cancel = cancel;
        this.onCancel = () -> end(cancelled());
        this.deadline = deadline(wire, wire.timeoutOf(timeout));
        if (cancel != null) {
            cancel.onCancel(onCancel);
        }
    }

    private ScheduledFuture<?> deadline(Wire wire, Duration limit) {
        if (limit == null) {
            return null;
        }
        try {
            return wire.timer().schedule(() -> end(new TonnageException(
                    TonnageException.Kind.TIMED_OUT, "the call took longer than " + limit)),
                    limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException error) {
            call.close();
            throw new IllegalStateException("the client is closed", error);
        }
    }

    private static TonnageException cancelled() {
        return new TonnageException(TonnageException.Kind.CANCELLED, "the call was cancelled");
    }

    private void end(TonnageException reason) {
        if (why == null) {
            why = reason;
        }
        call.close();
    }

    OutputStream body() {
        return call.body();
    }

    /** Something that is sent. */
    interface Sending {
        void run() throws IOException;
    }

    /** Sends one message or more, whole. */
    void send(Sending message) throws IOException {
        sending.lock();
        try {
            message.run();
            call.body().flush();
            sentAt = System.nanoTime();
        } finally {
            sending.unlock();
        }
    }

    /** From now on says now and then that this side lives: servers stop streams that are silent. */
    void keepAlive(Wire wire, ArrowWriter writer) {
        heartbeat = wire.timer().scheduleWithFixedDelay(() -> {
            boolean isSilent = System.nanoTime() - sentAt > HEARTBEAT.toNanos();
            // Where another thread sends, there is no silence.
            if (isSilent && sending.tryLock()) {
                try {
                    send(() -> writer.words("{}"));
                } catch (IOException error) {
                    // Who sends next, or reads the answer, hears of it.
                } finally {
                    sending.unlock();
                }
            }
        }, HEARTBEAT.toMillis(), HEARTBEAT.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Ends the body. */
    void endBody() throws IOException {
        if (heartbeat != null) {
            heartbeat.cancel(false);
        }
        sending.lock();
        try {
            call.body().close();
        } finally {
            sending.unlock();
        }
    }

    /**
     * Waits for the answer.
     *
     * @throws TonnageException what the server refuses, and what ended the call
     */
    InputStream answer() {
        try {
            InputStream answer = call.answer();
            if (call.status() / 100 != 2) {
                throw Wire.problem(call.status(), answer, call.header("x-request-id"));
            }
            return answer;
        } catch (IOException error) {
            throw lost(error);
        }
    }

    /** What a connection that is gone means; without an error why this side ended it, or null. */
    TonnageException lost(IOException error) {
        if (why != null || error == null) {
            return why;
        }
        return new TonnageException(TonnageException.Kind.CONNECTION_LOST,
                "the connection was lost: " + Wire.reason(error), error);
    }

    @Override
    public void close() {
        if (heartbeat != null) {
            heartbeat.cancel(false);
        }
        if (deadline != null) {
            deadline.cancel(false);
        }
        if (cancel != null) {
            cancel.forget(onCancel);
        }
        call.close();
    }
}
