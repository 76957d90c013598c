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
    private static final Duration SILENCE_MAX = Duration.ofSeconds(8);
    /** How often silence is looked for. */
    private static final Duration LOOK = Duration.ofSeconds(2);

    private final DuplexCall call;
    private final Cancel cancel;
    private final Runnable onCancel;
    private final ScheduledFuture<?> deadline;
    /** Held while a message is sent. */
    private final ReentrantLock sending = new ReentrantLock();
    private volatile ScheduledFuture<?> heartbeat;
    /** Whether the body has its end. Guarded by `sending`. */
    private boolean isEnded;
    private volatile boolean isClosed;
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
        try {
            heartbeat = wire.timer().scheduleWithFixedDelay(
                    () -> wire.heartbeats().execute(() -> beat(writer)),
                    LOOK.toMillis(), LOOK.toMillis(), TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException error) {
            call.close();
            throw new IllegalStateException("the client is closed", error);
        }
        if (isClosed) {
            heartbeat.cancel(false);
        }
    }

    private void beat(ArrowWriter writer) {
        boolean isSilent = System.nanoTime() - sentAt > SILENCE_MAX.toNanos();
        // Where another thread sends, there is no silence.
        if (isSilent && !isClosed && sending.tryLock()) {
            try {
                if (!isEnded) {
                    send(() -> writer.words("{}"));
                }
            } catch (IOException error) {
                // Who sends next, or reads the answer, hears of it.
            } finally {
                sending.unlock();
            }
        }
    }

    /** Ends the body. */
    void endBody() throws IOException {
        if (heartbeat != null) {
            heartbeat.cancel(false);
        }
        sending.lock();
        try {
            isEnded = true;
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
        isClosed = true;
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
