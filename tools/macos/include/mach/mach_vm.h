// The one function of Apple's header of this name that a package of ours calls
// (github.com/prometheus/client_golang). zig brings the types, not the header.
#ifndef MACH_VM_H
#define MACH_VM_H

#include <mach/mach_types.h>
#include <mach/vm_region.h>

kern_return_t mach_vm_region(vm_map_read_t task, mach_vm_address_t *address, mach_vm_size_t *size, vm_region_flavor_t flavor,
                             vm_region_info_t info, mach_msg_type_number_t *count, mach_port_t *object_name);

#endif
