package dev.tonnage.kafka;

import java.util.LinkedHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.apache.kafka.common.metrics.Measurable;
import org.apache.kafka.common.metrics.PluginMetrics;

/** Numbers of a task, which the worker tells with its own: over JMX and by its reporters. */
final class TaskMetrics {
    private final PluginMetrics worker;

    /** The worker may be null: then the numbers are told to nobody. */
    TaskMetrics(PluginMetrics worker) {
        this.worker = worker;
    }

    /** A number that grows. Its name ends in `-total`. */
    AtomicLong total(String name, String description) {
        AtomicLong total = new AtomicLong();
        tell(name, description, total::get);
        return total;
    }

    /** A number as it is when somebody asks. */
    void tell(String name, String description, LongSupplier value) {
        if (worker != null) {
            worker.addMetric(worker.metricName(name, description, new LinkedHashMap<>()),
                    (Measurable) (config, nowMs) -> value.getAsLong());
        }
    }
}
