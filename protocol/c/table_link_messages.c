/* Generated from the message catalogue by `python -m protocol.serial.c_code`; do not edit. */
#include "table_link.h"

const tl_row tl_rows[] = {
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_identity, req)},
    {(uint8_t)TL_U8, 1u, 0u, 255u, (uint16_t)offsetof(tl_identity, protocol)},
    {(uint8_t)TL_TEXT, 1u, 0u, 24u, (uint16_t)offsetof(tl_identity, firmware)},
    {(uint8_t)TL_TEXT, 1u, 0u, 32u, (uint16_t)offsetof(tl_identity, model)},
    {(uint8_t)TL_TEXT, 1u, 0u, 32u, (uint16_t)offsetof(tl_identity, serial_number)},
    {(uint8_t)TL_U32, 1u, 0u, 0u, (uint16_t)offsetof(tl_identity, boot_id)},
    {(uint8_t)TL_U8, 1u, 0u, 1u, (uint16_t)offsetof(tl_identity, capabilities.sensing)},
    {(uint8_t)TL_U8, 1u, 0u, 1u, (uint16_t)offsetof(tl_identity, capabilities.aid)},
    {(uint8_t)TL_U8, 1u, 1u, 2u, (uint16_t)offsetof(tl_identity, capabilities.sets)},
    {(uint8_t)TL_U8, 1u, 0u, 3u, (uint16_t)offsetof(tl_identity, capabilities.dice)},
    {(uint8_t)TL_U8, 1u, 0u, 1u, (uint16_t)offsetof(tl_identity, capabilities.memory)},
    {(uint8_t)TL_U8, 1u, 0u, 1u, (uint16_t)offsetof(tl_identity, capabilities.lamps)},
    {(uint8_t)TL_U8, 1u, 0u, 1u, (uint16_t)offsetof(tl_identity, capabilities.readers)},
    {(uint8_t)TL_U8, 1u, 0u, 1u, (uint16_t)offsetof(tl_identity, capabilities.service)},
    {(uint8_t)TL_U8, 1u, 0u, 255u, (uint16_t)offsetof(tl_identity, gear_tiles)},
    {(uint8_t)TL_U8, 4u, 0u, 40u, (uint16_t)offsetof(tl_identity, stacks)},
    {(uint8_t)TL_OPTIONAL, 4u, 0u, 1u, (uint16_t)offsetof(tl_identity, last_op.present)},
    {(uint8_t)TL_U64, 1u, 0u, 0u, (uint16_t)offsetof(tl_identity, last_op.value.journal)},
    {(uint8_t)TL_U32, 1u, 0u, 0u, (uint16_t)offsetof(tl_identity, last_op.value.hand)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_identity, last_op.value.step)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_identity, last_op.value.attempt)},
    {(uint8_t)TL_TEXT, 1u, 0u, 48u, (uint16_t)offsetof(tl_identity, stop_reason)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_pong, req)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_status, req)},
    {(uint8_t)TL_U8, 1u, 0u, 3u, (uint16_t)offsetof(tl_status, centre)},
    {(uint8_t)TL_U8, 1u, 0u, 3u, (uint16_t)offsetof(tl_status, walls)},
    {(uint8_t)TL_U8, 1u, 0u, 2u, (uint16_t)offsetof(tl_status, set_up)},
    {(uint8_t)TL_U8, 1u, 0u, 2u, (uint16_t)offsetof(tl_status, sorted_set)},
    {(uint8_t)TL_U8, 1u, 0u, 2u, (uint16_t)offsetof(tl_status, sorting_set)},
    {(uint8_t)TL_U8, 1u, 0u, 3u, (uint16_t)offsetof(tl_status, felt_sets)},
    {(uint8_t)TL_TEXT, 1u, 0u, 48u, (uint16_t)offsetof(tl_status, stop_reason)},
    {(uint8_t)TL_OPTIONAL, 4u, 0u, 1u, (uint16_t)offsetof(tl_status, running_op.present)},
    {(uint8_t)TL_U64, 1u, 0u, 0u, (uint16_t)offsetof(tl_status, running_op.value.journal)},
    {(uint8_t)TL_U32, 1u, 0u, 0u, (uint16_t)offsetof(tl_status, running_op.value.hand)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_status, running_op.value.step)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_status, running_op.value.attempt)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_gear_set, req)},
    {(uint8_t)TL_U8, 1u, 0u, 1u, (uint16_t)offsetof(tl_gear_set, accepted)},
    {(uint8_t)TL_U8, 1u, 0u, 7u, (uint16_t)offsetof(tl_gear_set, reason)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_counters, req)},
    {(uint8_t)TL_U32, 1u, 0u, 0u, (uint16_t)offsetof(tl_counters, cycles)},
    {(uint8_t)TL_U32, 6u, 0u, 0u, (uint16_t)offsetof(tl_counters, motor_seconds)},
    {(uint8_t)TL_U16, 6u, 0u, 0u, (uint16_t)offsetof(tl_counters, learned_ms)},
    {(uint8_t)TL_U32, 1u, 0u, 0u, (uint16_t)offsetof(tl_counters, frames_in)},
    {(uint8_t)TL_U32, 1u, 0u, 0u, (uint16_t)offsetof(tl_counters, frames_out)},
    {(uint8_t)TL_U32, 1u, 0u, 0u, (uint16_t)offsetof(tl_counters, retransmits)},
    {(uint8_t)TL_U32, 1u, 0u, 0u, (uint16_t)offsetof(tl_counters, bad_frames)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_sensors, req)},
    {(uint8_t)TL_U32, 1u, 0u, 0u, (uint16_t)offsetof(tl_sensors, bits)},
    {(uint8_t)TL_U16, 8u, 0u, 0u, (uint16_t)offsetof(tl_sensors, values)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_dice_faces, req)},
    {(uint8_t)TL_U8, 1u, 0u, 1u, (uint16_t)offsetof(tl_dice_faces, known)},
    {(uint8_t)TL_U8, 2u, 0u, 6u, (uint16_t)offsetof(tl_dice_faces, dice)},
    {(uint8_t)TL_U8, 1u, 0u, 1u, (uint16_t)offsetof(tl_dice_faces, moving)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_centre_vouched, req)},
    {(uint8_t)TL_U8, 1u, 0u, 1u, (uint16_t)offsetof(tl_centre_vouched, accepted)},
    {(uint8_t)TL_U64, 1u, 0u, 0u, (uint16_t)offsetof(tl_op_accepted, op.journal)},
    {(uint8_t)TL_U32, 1u, 0u, 0u, (uint16_t)offsetof(tl_op_accepted, op.hand)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_op_accepted, op.step)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_op_accepted, op.attempt)},
    {(uint8_t)TL_U64, 1u, 0u, 0u, (uint16_t)offsetof(tl_op_refused, op.journal)},
    {(uint8_t)TL_U32, 1u, 0u, 0u, (uint16_t)offsetof(tl_op_refused, op.hand)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_op_refused, op.step)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_op_refused, op.attempt)},
    {(uint8_t)TL_U8, 1u, 1u, 7u, (uint16_t)offsetof(tl_op_refused, reason)},
    {(uint8_t)TL_U64, 1u, 0u, 0u, (uint16_t)offsetof(tl_op_progress, op.journal)},
    {(uint8_t)TL_U32, 1u, 0u, 0u, (uint16_t)offsetof(tl_op_progress, op.hand)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_op_progress, op.step)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_op_progress, op.attempt)},
    {(uint8_t)TL_U8, 4u, 0u, 255u, (uint16_t)offsetof(tl_op_progress, tiles)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_op_progress, seconds)},
    {(uint8_t)TL_U64, 1u, 0u, 0u, (uint16_t)offsetof(tl_op_result, op.journal)},
    {(uint8_t)TL_U32, 1u, 0u, 0u, (uint16_t)offsetof(tl_op_result, op.hand)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_op_result, op.step)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_op_result, op.attempt)},
    {(uint8_t)TL_U8, 1u, 0u, 2u, (uint16_t)offsetof(tl_op_result, outcome)},
    {(uint8_t)TL_U8, 1u, 0u, 22u, (uint16_t)offsetof(tl_op_result, fault)},
    {(uint8_t)TL_U8_NONE, 1u, 0u, 3u, (uint16_t)offsetof(tl_op_result, side)},
    {(uint8_t)TL_BYTES, 1u, 0u, 160u, (uint16_t)offsetof(tl_op_result, values)},
    {(uint8_t)TL_U8, 1u, 0u, 3u, (uint16_t)offsetof(tl_key, key)},
    {(uint8_t)TL_U8_NONE, 1u, 0u, 3u, (uint16_t)offsetof(tl_key, seat)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_key, pressed_ms)},
    {(uint8_t)TL_U8, 1u, 0u, 3u, (uint16_t)offsetof(tl_zone, seat)},
    {(uint8_t)TL_U8, 1u, 0u, 3u, (uint16_t)offsetof(tl_zone, zone)},
    {(uint8_t)TL_TILES, 1u, 0u, 64u, (uint16_t)offsetof(tl_zone, tiles)},
    {(uint8_t)TL_U8, 1u, 0u, 100u, (uint16_t)offsetof(tl_zone, confidence)},
    {(uint8_t)TL_TEXT, 1u, 0u, 8u, (uint16_t)offsetof(tl_tile_flipped, position)},
    {(uint8_t)TL_TILE, 1u, 0u, 0u, (uint16_t)offsetof(tl_tile_flipped, tile)},
    {(uint8_t)TL_U8, 1u, 0u, 100u, (uint16_t)offsetof(tl_tile_flipped, confidence)},
    {(uint8_t)TL_U8, 1u, 0u, 3u, (uint16_t)offsetof(tl_row_laid, side)},
    {(uint8_t)TL_U8, 1u, 0u, 1u, (uint16_t)offsetof(tl_dice_unasked, known)},
    {(uint8_t)TL_U8, 2u, 0u, 6u, (uint16_t)offsetof(tl_dice_unasked, dice)},
    {(uint8_t)TL_U8, 1u, 1u, 22u, (uint16_t)offsetof(tl_fault_raised, code)},
    {(uint8_t)TL_U8, 1u, 0u, 3u, (uint16_t)offsetof(tl_fault_raised, severity)},
    {(uint8_t)TL_TEXT, 1u, 0u, 24u, (uint16_t)offsetof(tl_fault_raised, mechanism)},
    {(uint8_t)TL_U8_NONE, 1u, 0u, 3u, (uint16_t)offsetof(tl_fault_raised, side)},
    {(uint8_t)TL_U8, 1u, 1u, 22u, (uint16_t)offsetof(tl_fault_cleared, code)},
    {(uint8_t)TL_U8_NONE, 1u, 0u, 3u, (uint16_t)offsetof(tl_fault_cleared, side)},
    {(uint8_t)TL_TEXT, 1u, 0u, 48u, (uint16_t)offsetof(tl_stop_latched, reason)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_stop_latched, req)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_stop_cleared, req)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_identify, req)},
    {(uint8_t)TL_U8, 1u, 0u, 255u, (uint16_t)offsetof(tl_identify, protocol_min)},
    {(uint8_t)TL_U8, 1u, 0u, 255u, (uint16_t)offsetof(tl_identify, protocol_max)},
    {(uint8_t)TL_TEXT, 1u, 0u, 48u, (uint16_t)offsetof(tl_identify, host)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_ping, req)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_status_query, req)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_set_gear, req)},
    {(uint8_t)TL_U8, 1u, 0u, 255u, (uint16_t)offsetof(tl_set_gear, tiles)},
    {(uint8_t)TL_U8, 4u, 0u, 40u, (uint16_t)offsetof(tl_set_gear, stacks)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_counters_query, req)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_sensors_query, req)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_dice_query, req)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_vouch_centre, req)},
    {(uint8_t)TL_U64, 1u, 0u, 0u, (uint16_t)offsetof(tl_centre_raise, op.journal)},
    {(uint8_t)TL_U32, 1u, 0u, 0u, (uint16_t)offsetof(tl_centre_raise, op.hand)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_centre_raise, op.step)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_centre_raise, op.attempt)},
    {(uint8_t)TL_U64, 1u, 0u, 0u, (uint16_t)offsetof(tl_centre_lower, op.journal)},
    {(uint8_t)TL_U32, 1u, 0u, 0u, (uint16_t)offsetof(tl_centre_lower, op.hand)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_centre_lower, op.step)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_centre_lower, op.attempt)},
    {(uint8_t)TL_U64, 1u, 0u, 0u, (uint16_t)offsetof(tl_walls_raise, op.journal)},
    {(uint8_t)TL_U32, 1u, 0u, 0u, (uint16_t)offsetof(tl_walls_raise, op.hand)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_walls_raise, op.step)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_walls_raise, op.attempt)},
    {(uint8_t)TL_U8, 1u, 1u, 2u, (uint16_t)offsetof(tl_walls_raise, set_no)},
    {(uint8_t)TL_U64, 1u, 0u, 0u, (uint16_t)offsetof(tl_walls_lower, op.journal)},
    {(uint8_t)TL_U32, 1u, 0u, 0u, (uint16_t)offsetof(tl_walls_lower, op.hand)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_walls_lower, op.step)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_walls_lower, op.attempt)},
    {(uint8_t)TL_U64, 1u, 0u, 0u, (uint16_t)offsetof(tl_sort_start, op.journal)},
    {(uint8_t)TL_U32, 1u, 0u, 0u, (uint16_t)offsetof(tl_sort_start, op.hand)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_sort_start, op.step)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_sort_start, op.attempt)},
    {(uint8_t)TL_U8, 1u, 1u, 2u, (uint16_t)offsetof(tl_sort_start, set_no)},
    {(uint8_t)TL_U64, 1u, 0u, 0u, (uint16_t)offsetof(tl_sort_stop, op.journal)},
    {(uint8_t)TL_U32, 1u, 0u, 0u, (uint16_t)offsetof(tl_sort_stop, op.hand)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_sort_stop, op.step)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_sort_stop, op.attempt)},
    {(uint8_t)TL_U64, 1u, 0u, 0u, (uint16_t)offsetof(tl_dice_roll, op.journal)},
    {(uint8_t)TL_U32, 1u, 0u, 0u, (uint16_t)offsetof(tl_dice_roll, op.hand)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_dice_roll, op.step)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_dice_roll, op.attempt)},
    {(uint8_t)TL_U64, 1u, 0u, 0u, (uint16_t)offsetof(tl_present_group, op.journal)},
    {(uint8_t)TL_U32, 1u, 0u, 0u, (uint16_t)offsetof(tl_present_group, op.hand)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_present_group, op.step)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_present_group, op.attempt)},
    {(uint8_t)TL_U8, 1u, 0u, 3u, (uint16_t)offsetof(tl_present_group, side)},
    {(uint8_t)TL_U8, 1u, 0u, 255u, (uint16_t)offsetof(tl_present_group, first)},
    {(uint8_t)TL_U8, 1u, 1u, 40u, (uint16_t)offsetof(tl_present_group, count)},
    {(uint8_t)TL_U8, 1u, 0u, 3u, (uint16_t)offsetof(tl_present_group, to_seat)},
    {(uint8_t)TL_U64, 1u, 0u, 0u, (uint16_t)offsetof(tl_read_wall, op.journal)},
    {(uint8_t)TL_U32, 1u, 0u, 0u, (uint16_t)offsetof(tl_read_wall, op.hand)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_read_wall, op.step)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_read_wall, op.attempt)},
    {(uint8_t)TL_U8, 1u, 0u, 3u, (uint16_t)offsetof(tl_read_wall, side)},
    {(uint8_t)TL_U64, 1u, 0u, 0u, (uint16_t)offsetof(tl_jog, op.journal)},
    {(uint8_t)TL_U32, 1u, 0u, 0u, (uint16_t)offsetof(tl_jog, op.hand)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_jog, op.step)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_jog, op.attempt)},
    {(uint8_t)TL_U8, 1u, 0u, 5u, (uint16_t)offsetof(tl_jog, motor)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_jog, milliseconds)},
    {(uint8_t)TL_U64, 1u, 0u, 0u, (uint16_t)offsetof(tl_self_test, op.journal)},
    {(uint8_t)TL_U32, 1u, 0u, 0u, (uint16_t)offsetof(tl_self_test, op.hand)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_self_test, op.step)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_self_test, op.attempt)},
    {(uint8_t)TL_U8, 1u, 0u, 255u, (uint16_t)offsetof(tl_self_test, number)},
    {(uint8_t)TL_U8, 1u, 0u, 3u, (uint16_t)offsetof(tl_lamp, side)},
    {(uint8_t)TL_U8, 1u, 0u, 255u, (uint16_t)offsetof(tl_lamp, first)},
    {(uint8_t)TL_U8, 1u, 0u, 255u, (uint16_t)offsetof(tl_lamp, last)},
    {(uint8_t)TL_U8, 1u, 0u, 6u, (uint16_t)offsetof(tl_lamp, colour)},
    {(uint8_t)TL_U8, 1u, 0u, 255u, (uint16_t)offsetof(tl_buzzer, pattern)},
    {(uint8_t)TL_TEXT, 1u, 0u, 48u, (uint16_t)offsetof(tl_emergency_stop, reason)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_clear_stop, req)},
    {(uint8_t)TL_OPTIONAL, 1u, 0u, 1u, (uint16_t)offsetof(tl_dice_outcome, dice.present)},
    {(uint8_t)TL_U8, 2u, 1u, 6u, (uint16_t)offsetof(tl_dice_outcome, dice.value)},
    {(uint8_t)TL_U8, 1u, 0u, 3u, (uint16_t)offsetof(tl_dice_outcome, quality)},
    {(uint8_t)TL_U16, 1u, 0u, 0u, (uint16_t)offsetof(tl_dice_outcome, spin_ms)},
    {(uint8_t)TL_U8, 4u, 0u, 255u, (uint16_t)offsetof(tl_sort_outcome, tiles)},
    {(uint8_t)TL_TILES, 1u, 0u, 80u, (uint16_t)offsetof(tl_wall_outcome, tiles)},
    {(uint8_t)TL_U8, 1u, 0u, 100u, (uint16_t)offsetof(tl_wall_outcome, confidence)},
    {(uint8_t)TL_BYTES, 1u, 0u, 90u, (uint16_t)offsetof(tl_self_test_outcome, found)},
};

const tl_layout tl_layouts[] = {
    {0x81u, 22u, 0u}, /* identity */
    {0x82u, 1u, 22u}, /* pong */
    {0x83u, 13u, 23u}, /* status */
    {0x84u, 3u, 36u}, /* gear_set */
    {0x85u, 8u, 39u}, /* counters */
    {0x86u, 3u, 47u}, /* sensors */
    {0x87u, 4u, 50u}, /* dice_faces */
    {0x88u, 2u, 54u}, /* centre_vouched */
    {0xa0u, 4u, 56u}, /* op_accepted */
    {0xa1u, 5u, 60u}, /* op_refused */
    {0xa2u, 6u, 65u}, /* op_progress */
    {0xa3u, 8u, 71u}, /* op_result */
    {0xc0u, 3u, 79u}, /* key */
    {0xc1u, 4u, 82u}, /* zone */
    {0xc2u, 3u, 86u}, /* tile_flipped */
    {0xc3u, 1u, 89u}, /* row_laid */
    {0xc4u, 2u, 90u}, /* dice_unasked */
    {0xc5u, 4u, 92u}, /* fault_raised */
    {0xc6u, 2u, 96u}, /* fault_cleared */
    {0xc7u, 2u, 98u}, /* stop_latched */
    {0xc8u, 1u, 100u}, /* stop_cleared */
    {0x01u, 4u, 101u}, /* identify */
    {0x02u, 1u, 105u}, /* ping */
    {0x03u, 1u, 106u}, /* status_query */
    {0x04u, 3u, 107u}, /* set_gear */
    {0x05u, 1u, 110u}, /* counters_query */
    {0x06u, 1u, 111u}, /* sensors_query */
    {0x07u, 1u, 112u}, /* dice_query */
    {0x08u, 1u, 113u}, /* vouch_centre */
    {0x20u, 4u, 114u}, /* centre_raise */
    {0x21u, 4u, 118u}, /* centre_lower */
    {0x22u, 5u, 122u}, /* walls_raise */
    {0x23u, 4u, 127u}, /* walls_lower */
    {0x24u, 5u, 131u}, /* sort_start */
    {0x25u, 4u, 136u}, /* sort_stop */
    {0x26u, 4u, 140u}, /* dice_roll */
    {0x27u, 8u, 144u}, /* present_group */
    {0x28u, 5u, 152u}, /* read_wall */
    {0x29u, 6u, 157u}, /* jog */
    {0x2au, 5u, 163u}, /* self_test */
    {0x40u, 4u, 168u}, /* lamp */
    {0x41u, 0u, 172u}, /* lamps_off */
    {0x42u, 1u, 172u}, /* buzzer */
    {0x43u, 1u, 173u}, /* emergency_stop */
    {0x44u, 1u, 174u}, /* clear_stop */
    {0x45u, 0u, 175u}, /* service_end */
};

const uint8_t tl_layout_count = 46u;

/* By the operation whose result they are. */
const tl_layout tl_outcomes[] = {
    {0x26u, 4u, 175u}, /* dice_outcome */
    {0x24u, 1u, 179u}, /* sort_outcome */
    {0x28u, 2u, 180u}, /* wall_outcome */
    {0x2au, 1u, 182u}, /* self_test_outcome */
};

const uint8_t tl_outcome_count = 4u;

int tl_is_tile(uint8_t code)
{
    /* The highest rank of each suit, the suit in the high nibble. */
    static const uint8_t ranks[] = {9u, 9u, 9u, 7u, 8u};
    const uint8_t suit = (uint8_t)(code >> 4);
    const uint8_t rank = (uint8_t)(code & 0x0Fu);

    if (code == TL_TILE_UNKNOWN) {
        return 1;
    }
    return (suit < sizeof ranks) && (rank >= 1u) && (rank <= ranks[suit]);
}
