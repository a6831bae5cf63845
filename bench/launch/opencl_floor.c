/* The floor of an OpenCL launch: a C loop that sets every argument and enqueues the kernel. */
#include <stddef.h>

typedef int set_argument(void *kernel, unsigned index, size_t nbytes, const void *value);
typedef int enqueue(void *queue, void *kernel, unsigned dimensions, const size_t *offset, const size_t *global,
                    const size_t *local, unsigned waits, const void *wait_list, void *event);

/* The arguments lie one behind the other at `values`, each of `nbytes[i]`. */
int opencl_floor(set_argument *set, enqueue *launch, void *queue, void *kernel, unsigned count, const size_t *nbytes,
                 const unsigned char *values, long times)
{
    const size_t global = 256, local = 64;
    int status = 0;
    while (times-- > 0) {
        const unsigned char *value = values;
        for (unsigned i = 0; i < count; i++) {
            status |= set(kernel, i, nbytes[i], value);
            value += nbytes[i];
        }
        status |= launch(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL);
    }
    return status;
}
