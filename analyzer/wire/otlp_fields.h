/* SPDX-License-Identifier: MIT */
/*
 * This file has the numbers of those fields of OTLP's profiles signal, v1development, as of opentelemetry-proto 1.11 (ac2c4b5), that are
 * written or read. The numbers have changed before under the same package name (1.10 moved Sample.values from 2 to 4). A receiver of
 * another version may then accept a profile without finding its values, so the numbers must be kept up to date. tests/golden/otlp.sh
 * compares them with tests/golden/otlp.proto.
 */
#ifndef TAILOR_WIRE_OTLP_FIELDS_H
#define TAILOR_WIRE_OTLP_FIELDS_H

#define OTLP_FIELDS(X) \
	X(ExportProfilesServiceRequest, resource_profiles, 1) \
	X(ExportProfilesServiceRequest, dictionary, 2) \
	X(ProfilesDictionary, mapping_table, 1) \
	X(ProfilesDictionary, location_table, 2) \
	X(ProfilesDictionary, function_table, 3) \
	X(ProfilesDictionary, link_table, 4) \
	X(ProfilesDictionary, string_table, 5) \
	X(ProfilesDictionary, attribute_table, 6) \
	X(ProfilesDictionary, stack_table, 7) \
	X(ResourceProfiles, resource, 1) \
	X(ResourceProfiles, scope_profiles, 2) \
	X(Resource, attributes, 1) \
	X(KeyValue, key, 1) \
	X(KeyValue, value, 2) \
	X(AnyValue, string_value, 1) \
	X(AnyValue, int_value, 3) \
	X(ScopeProfiles, scope, 1) \
	X(ScopeProfiles, profiles, 2) \
	X(InstrumentationScope, name, 1) \
	X(InstrumentationScope, version, 2) \
	X(Profile, sample_type, 1) \
	X(Profile, samples, 2) \
	X(Profile, time_unix_nano, 3) \
	X(Profile, duration_nano, 4) \
	X(Profile, period_type, 5) \
	X(Profile, period, 6) \
	X(Profile, profile_id, 7) \
	X(ValueType, type_strindex, 1) \
	X(ValueType, unit_strindex, 2) \
	X(Sample, stack_index, 1) \
	X(Sample, attribute_indices, 2) \
	X(Sample, values, 4) \
	X(Stack, location_indices, 1) \
	X(Location, mapping_index, 1) \
	X(Location, lines, 3) \
	X(Location, attribute_indices, 4) \
	X(Line, function_index, 1) \
	X(Line, line, 2) \
	X(Function, name_strindex, 1) \
	X(Function, system_name_strindex, 2) \
	X(Function, filename_strindex, 3) \
	X(Function, start_line, 4) \
	X(Mapping, filename_strindex, 4) \
	X(KeyValueAndUnit, key_strindex, 1) \
	X(KeyValueAndUnit, value, 2) \
	X(ExportProfilesServiceResponse, partial_success, 1) \
	X(ExportProfilesPartialSuccess, rejected_profiles, 1) \
	X(ExportProfilesPartialSuccess, error_message, 2) \
	X(Status, message, 2)

#define OTLP_FIELD_(message, field, number) OTLP_##message##_##field = (number),
enum otlp_field { OTLP_FIELDS(OTLP_FIELD_) };
#undef OTLP_FIELD_

#endif
