/* What an API hands out and takes back without showing it. Each backend's handles are these, so that the functions of
 * its library can be called by what is common. */
#ifndef AS_DEVICE_CARD_HANDLES_H
#define AS_DEVICE_CARD_HANDLES_H

struct as_card_context;
struct as_card_module;
struct as_card_function;
struct as_card_stream;
struct as_card_event;
struct as_card_graph;
struct as_card_graph_exec;
struct as_card_compilation; /* of the run-time compiler */

#endif
