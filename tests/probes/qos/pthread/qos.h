/* A stand-in for macOS's header of the same name, with its values. */
#ifndef TESTS_PROBES_QOS_PTHREAD_QOS_H
#define TESTS_PROBES_QOS_PTHREAD_QOS_H

typedef enum {
    QOS_CLASS_USER_INTERACTIVE = 0x21,
    QOS_CLASS_USER_INITIATED = 0x19,
    QOS_CLASS_UTILITY = 0x11,
    QOS_CLASS_BACKGROUND = 0x09
} qos_class_t;
int pthread_set_qos_class_self_np(qos_class_t qos_class, int relative_priority);

#endif
